// SPDX-License-Identifier: BSD-2-Clause
#include "tests/e2e/support/cgroups.h"

#include <gtest/gtest.h>
#include <mntent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ovnitrace::test {

namespace {

namespace fs = std::filesystem;

void kill_all_in(const std::string &cgroup) {
  std::ifstream file(cgroup + "/cgroup.procs");
  for (pid_t pid = 0; file >> pid;)
    kill(pid, SIGKILL);
}

/// The innermost first. A process that was killed leaves after a moment.
void remove_tree(const std::string &cgroup) {
  std::error_code gone;
  for (const auto &entry : fs::directory_iterator(cgroup, gone))
    if (entry.is_directory(gone))
      remove_tree(entry.path().string());
  for (int tries = 0; rmdir(cgroup.c_str()) != 0 && tries < 500; tries++) {
    kill_all_in(cgroup);
    usleep(10'000);
  }
}

} // namespace

std::vector<std::string> cgroup_places() {
  std::vector<std::string> places;
  FILE *file = setmntent("/proc/self/mounts", "r");
  while (const mntent *mount = file ? getmntent(file) : nullptr) {
    const std::string type = mount->mnt_type, place = mount->mnt_dir;
    if (type == "cgroup2" ||
        (type == "cgroup" && (place.ends_with("/systemd") || place.ends_with("/freezer"))))
      places.push_back(place);
  }
  if (file)
    endmntent(file);
  return places;
}

TestCgroup::TestCgroup(const std::string &place, const std::string &name)
    : path_(place + "/" + name) {
  EXPECT_EQ(mkdir(path_.c_str(), 0755), 0) << path_;
}

TestCgroup::~TestCgroup() {
  remove_tree(path_);
}

void TestCgroup::add(const std::string &inside) {
  EXPECT_EQ(mkdir((path_ + "/" + inside).c_str(), 0755), 0) << inside;
}

void TestCgroup::move(pid_t pid, const std::string &cgroup) {
  std::ofstream file(cgroup + "/cgroup.procs");
  file << pid << std::flush;
  EXPECT_TRUE(file) << cgroup;
}

} // namespace ovnitrace::test
