// SPDX-License-Identifier: BSD-2-Clause
// A chunk beyond the limit of a memory cgroup: what the library reads of it, and a real one.
#include "tests/unit/support/ftrace_rig.h"

extern "C" {
#include "user/lib/memory.h"
}

#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

using namespace ovnitrace::test;

namespace {

constexpr size_t kUnlimited = SIZE_MAX;

/// What is left when the part stays with the program that the library leaves it.
size_t usable(size_t room) {
  return room - room / 16;
}

/// A tree of cgroups, and the files of /proc/self that lead there.
class FtraceMemory : public FtraceRig {
protected:
  std::string mount(const std::string &name) { return dir_ / name; }
  void put(const std::string &path, const std::string &text) {
    std::filesystem::create_directories(std::filesystem::path(dir_ / path).parent_path());
    std::ofstream(dir_ / path) << text;
  }
  void v2(const std::string &group, const std::string &limit, size_t usage, size_t cache) {
    put(group + "/memory.max", limit + "\n");
    put(group + "/memory.current", std::to_string(usage) + "\n");
    put(group + "/memory.stat", "anon 1\ninactive_file " + std::to_string(cache) +
                                    "\nactive_file 1000\nworkingset_refault_file 5\n");
  }
  void proc(const std::string &cgroup, const std::string &mountinfo) {
    put("proc/cgroup", cgroup);
    put("proc/mountinfo", "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n" + mountinfo);
  }
  size_t room() { return ovt_memory_of_cgroups((dir_ / "proc").c_str()); }
};

TEST_F(FtraceMemory, NothingToReadIsNoLimit) {
  EXPECT_EQ(room(), kUnlimited);
  proc("0::/a\n", "");
  EXPECT_EQ(room(), kUnlimited);
  proc("0::/a\n", "30 22 0:26 / " + mount("cg") + " rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(room(), kUnlimited);
  v2("cg/a", "max", 5000, 0);
  EXPECT_EQ(room(), kUnlimited);
  put("proc/mountinfo", "a line that is none\n - \n30 22 0:26 / - cgroup2\n");
  EXPECT_EQ(room(), kUnlimited);
  put("proc/cgroup", "0\n:\n");
  EXPECT_EQ(room(), kUnlimited);
}

TEST_F(FtraceMemory, TheTightestGroupUpTheHierarchyCounts) {
  proc("1:name=x:/other\n0::/a/b\n",
       "30 22 0:26 / " + mount("cg") + " rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  v2("cg/a/b", "90000", 11000, 9000); // its cache can be given up
  EXPECT_EQ(room(), usable(89000));
  v2("cg/a", "50000", 31000, 0);
  EXPECT_EQ(room(), usable(20000));
  v2("cg/c", "10", 0, 0); // another one
  EXPECT_EQ(room(), usable(20000));
  v2("cg", "20000", 30000, 0);
  EXPECT_EQ(room(), 0u);
}

TEST_F(FtraceMemory, VersionOneHasAHierarchyOfItsOwn) {
  proc("5:cpu,cpuacct:/c\n4:memory:/m\n0::/v2\n",
       "31 22 0:31 / " + mount("cpu") + " rw - cgroup cgroup rw,cpu,cpuacct\n32 22 0:32 / " +
           mount("mem\\040ory") + " rw - cgroup cgroup rw,memory\n33 22 0:33 / " + mount("v2") +
           " rw - cgroup2 cgroup2 rw\n");
  put("mem ory/memory.limit_in_bytes", "9223372036854771712\n");
  put("mem ory/memory.usage_in_bytes", "70000\n");
  put("mem ory/m/memory.limit_in_bytes", "64000\n");
  put("mem ory/m/memory.usage_in_bytes", "32000\n");
  EXPECT_EQ(room(), usable(32000));
  put("mem ory/m/memory.stat", "inactive_file 7\ntotal_inactive_file 16000\n");
  EXPECT_EQ(room(), usable(48000));
  put("cpu/c/memory.limit_in_bytes", "1\n");
  put("cpu/c/memory.usage_in_bytes", "0\n");
  EXPECT_EQ(room(), usable(48000));
}

TEST_F(FtraceMemory, AContainerSeesAPartOfTheHierarchy) {
  const std::string where = mount("cg") + " rw - cgroup2 cgroup2 rw\n";
  v2("cg", "3000", 0, 0);
  v2("cg/in", "2000", 0, 0);
  proc("0::/box/1/in\n", "30 22 0:26 /box/1 " + where);
  EXPECT_EQ(room(), usable(2000));
  proc("0::/in\n", "30 22 0:26 /../.. " + where); // mounted outside of the namespace
  EXPECT_EQ(room(), usable(3000));
  proc("0::/box/12\n", "30 22 0:26 /box/1 " + where); // of others
  EXPECT_EQ(room(), kUnlimited);
  proc("0::/../in\n", "30 22 0:26 / " + where); // we are not in there
  EXPECT_EQ(room(), kUnlimited);
}

/// A cgroup with a limit, if one can be made here; empty if not.
std::filesystem::path limited_group(size_t limit) {
  const std::string name = "ovnitrace-test-" + std::to_string(getpid());
  for (auto [parent, file] : {std::pair{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
                              std::pair{"/sys/fs/cgroup", "memory.max"}}) {
    std::error_code error;
    const auto group = std::filesystem::path(parent) / name;
    if (!std::filesystem::create_directory(group, error))
      continue;
    if (std::filesystem::exists(group / file) && (std::ofstream(group / file) << limit).flush())
      return group;
    std::filesystem::remove(group, error);
  }
  return {};
}

TEST_F(FtraceMemory, AChunkBeyondTheLimitIsRefused) {
  const auto group = limited_group(64 << 20);
  if (group.empty())
    GTEST_SKIP() << "no memory cgroup can be made here";
  const pid_t child = fork();
  if (child == 0) {
    const bool in = bool((std::ofstream(group / "cgroup.procs") << getpid()).flush());
    const int beyond = FTrace_chunk_create(300000000, 480, kFree);
    const int within = FTrace_chunk_create(1000000, 480, kFree);
    _exit(!in ? 2 : beyond != FTRACE_E_NOMEM ? 3 : within != 0 ? 4 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  std::error_code ignored;
  std::filesystem::remove(group, ignored);
  EXPECT_TRUE(WIFEXITED(status)) << "killed by " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

} // namespace
