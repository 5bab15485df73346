// SPDX-License-Identifier: BSD-2-Clause
// The filters of threads, before the kernel gets them.
#include "emulator/base/error.h"
#include "tests/unit/support/cases.h"
#include "user/cli/selection_options.h"
#include "user/select/containers.h"
#include "user/select/name_glob.h"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

namespace ovnitrace::test {

namespace {

namespace fs = std::filesystem;

std::string random_text(std::minstd_rand &random, const std::string &letters, size_t most) {
  std::string text;
  for (size_t length = random() % (most + 1); text.size() < length;)
    text += letters[random() % letters.size()];
  return text;
}

} // namespace

/// Does what the kernel side does.
bool matches(const name_glob &glob, const std::string &name) {
  uint64_t states = 1;
  for (const char c : name)
    states = (states & glob.advance[uint8_t(c)]) << 1 | (states & glob.loops);
  return states & glob.accept;
}

TEST(NameGlob, MatchesAsAShellDoes) {
  std::minstd_rand random(1);
  for (unsigned n = 0; n < cases(20'000); n++) {
    const std::string pattern = "a" + random_text(random, "ab*?", 7);
    const std::string name = "a" + random_text(random, "abc", 7);
    EXPECT_EQ(matches(make_name_glob("--comm", pattern), name),
              fnmatch(pattern.c_str(), name.c_str(), 0) == 0)
        << pattern << " " << name;
  }
}

TEST(NameGlob, APatternThatNoNameCanMatchIsRefused) {
  EXPECT_NO_THROW(make_name_glob("--comm", "fifteen-letters"));
  EXPECT_NO_THROW(make_name_glob("--comm", "*fifteen-letters*"));
  EXPECT_THROW(make_name_glob("--comm", "sixteen-letters!"), Error);
  EXPECT_THROW(make_name_glob("--comm", ""), Error);
}

TEST(CpuList, RangesAndNumbersAreUnderstood) {
  EXPECT_EQ(parse_cpus("--cpu", "0-2,5", 8), (std::vector<uint32_t>{0, 1, 2, 5}));
  for (const char *wrong : {"", "8", "2-1", "a", "0-", "-1", "0,,1", "0-8", "4294967296"})
    EXPECT_THROW(parse_cpus("--cpu", wrong, 8), Error) << wrong;
}

class CgroupTree : public testing::Test {
protected:
  CgroupTree() {
    char name[] = "/tmp/ovnitrace-cgroups-XXXXXX";
    place_ = mkdtemp(name);
  }
  ~CgroupTree() override { fs::remove_all(place_); }
  void make(const std::string &path) { fs::create_directories(place_ + path); }
  std::vector<std::string> found(const CgroupChoice &choice) {
    std::vector<std::string> paths;
    for (const FoundCgroup &one : find_cgroups(choice, {{place_, 0}}))
      paths.push_back(one.path + " " + std::to_string(one.cgroup.level));
    std::sort(paths.begin(), paths.end());
    return paths;
  }
  std::string place_;
};

using Paths = std::vector<std::string>;

TEST_F(CgroupTree, PathsAreThoseOfTheMountOrOfTheHierarchy) {
  make("/system.slice/nginx.service");
  const std::vector<CgroupMount> mounts = {{place_, 0}};
  for (const std::string &path :
       {place_ + "/system.slice/nginx.service/", std::string("system.slice/nginx.service"),
        std::string("/system.slice/./nginx.service")})
    EXPECT_EQ(found(cgroup_at(path, mounts)), Paths{"/system.slice/nginx.service 2"}) << path;
  EXPECT_EQ(found(cgroup_at(place_, mounts)), Paths{"/ 0"});
  EXPECT_EQ(found(cgroup_at("/nginx.service", mounts)), Paths());
  EXPECT_THROW(cgroup_at("/" + std::string(300, 'a'), mounts), Error);
}

TEST_F(CgroupTree, UnitsAreFoundByTheirWholeName) {
  make("/system.slice/nginx.service/child");
  make("/system.slice/nginx.service2");
  make("/user.slice/user-1000.slice/nginx.service");
  EXPECT_EQ(found(cgroup_of_unit("nginx")), (Paths{"/system.slice/nginx.service 2",
                                                   "/user.slice/user-1000.slice/nginx.service 3"}));
  EXPECT_EQ(found(cgroup_of_unit("user-1000.slice")), Paths{"/user.slice/user-1000.slice 2"});
}

TEST_F(CgroupTree, ContainersAreFoundByIdOrName) {
  const std::string id(64, 'e'), other = "abc0" + std::string(60, '1');
  make("/system.slice/docker-" + id + ".scope");
  make("/machine.slice/libpod-conmon-" + other + ".scope");
  make("/machine.slice/libpod-" + other + ".scope/container");
  make("/kubepods.slice/pod1/cri-containerd-" + id + ".scope");
  make("/docker/" + other);
  make("/machine.slice/machine-my\\x2dweb.scope");
  make("/machine.slice/systemd-nspawn@db.service");
  const std::string none = place_ + "/none";
  EXPECT_EQ(found(cgroup_of_container("eeee", none)),
            (Paths{"/kubepods.slice/pod1/cri-containerd-" + id + ".scope 3",
                   "/system.slice/docker-" + id + ".scope 2"}));
  EXPECT_EQ(found(cgroup_of_container(other.substr(0, 12), none)),
            (Paths{"/docker/" + other + " 2", "/machine.slice/libpod-" + other + ".scope 2"}));
  EXPECT_EQ(found(cgroup_of_container("my-web", none)),
            Paths{"/machine.slice/machine-my\\x2dweb.scope 2"});
  EXPECT_EQ(found(cgroup_of_container("db", none)),
            Paths{"/machine.slice/systemd-nspawn@db.service 2"});
  EXPECT_EQ(found(cgroup_of_container("eee", none)), Paths()) << "too short for an id";
}

TEST_F(CgroupTree, NamesOfDockerAndPodmanAreLookedUpInTheirFiles) {
  const std::string docker(64, 'd'), podman(64, 'a'), lib = place_ + "-lib";
  make("/system.slice/docker-" + docker + ".scope");
  make("/machine.slice/libpod-" + podman + ".scope");
  fs::create_directories(lib + "/docker/containers/" + docker);
  fs::create_directories(lib + "/containers/storage/overlay-containers");
  std::ofstream(lib + "/docker/containers/" + docker + "/config.v2.json")
      << R"({"ID":"x","Name":"/web"})";
  std::ofstream(lib + "/containers/storage/overlay-containers/containers.json")
      << R"([3, {"id":7,"names":["db"]}, {"id":")" << podman << R"(","names":["x","db"]}])";
  EXPECT_EQ(found(cgroup_of_container("web", lib)),
            Paths{"/system.slice/docker-" + docker + ".scope 2"});
  EXPECT_EQ(found(cgroup_of_container("db", lib)),
            Paths{"/machine.slice/libpod-" + podman + ".scope 2"});
  std::ofstream(lib + "/docker/containers/" + docker + "/config.v2.json") << "{";
  EXPECT_EQ(found(cgroup_of_container("web", lib)), Paths());
  fs::remove_all(lib);
}

TEST_F(CgroupTree, MountsOfBothVersionsAreKnown) {
  std::ofstream(place_ + "/mounts")
      << "30 24 0:26 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n"
         "31 24 0:27 /part /sys/fs/cgroup/part rw - cgroup2 cgroup2 rw\n"
         "32 24 0:28 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"
         "33 24 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  std::ofstream(place_ + "/cgroups") << "9:cpu,cpuacct:/\n8:memory:/\n1:name=systemd:/\n0::/\n";
  const std::vector<CgroupMount> mounts = cgroup_mounts(place_ + "/mounts", place_ + "/cgroups");
  ASSERT_EQ(mounts.size(), 3u);
  EXPECT_EQ(mounts[0].place, "/sys/fs/cgroup/unified");
  EXPECT_EQ(mounts[0].hierarchy, 0u);
  EXPECT_EQ(mounts[1].hierarchy, 8u);
  EXPECT_EQ(mounts[2].hierarchy, 1u);
}

} // namespace ovnitrace::test
