// SPDX-License-Identifier: BSD-2-Clause
// The filters of threads, before the kernel gets them.
#include "emulator/base/error.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/error_from.h"
#include "user/cli/selection_options.h"
#include "user/select/containers.h"
#include "user/select/name_glob.h"

#include <fnmatch.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

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

TEST(NameGlob, MatchesAsAShellDoes) {
  std::minstd_rand random(1);
  for (unsigned n = 0; n < cases(20'000); n++) {
    const std::string pattern = "a" + random_text(random, "ab*?", 7);
    const std::string name = "a" + random_text(random, "abc", 7);
    const name_glob glob = make_name_glob("--comm", pattern);
    EXPECT_EQ(glob_fits(&glob, name.data(), uint32_t(name.size())) != 0,
              fnmatch(pattern.c_str(), name.c_str(), 0) == 0)
        << pattern << " " << name;
  }
}

TEST(NameGlob, APatternThatNoNameCanMatchIsRefused) {
  EXPECT_NO_THROW(make_name_glob("--comm", "fifteen-letters"));
  EXPECT_NO_THROW(make_name_glob("--comm", "*fifteen-letters*"));
  EXPECT_EQ(usage_error_from([] { make_name_glob("--comm", "sixteen-letters!"); }),
            "--comm 'sixteen-letters!': the kernel keeps 15 characters of a thread's name; write "
            "'sixteen-letter*'");
  EXPECT_EQ(usage_error_from([] { make_name_glob("--no-comm", ""); }),
            "--no-comm needs a name, such as 'worker*'");
}

TEST(NameGlob, AQuestionMarkIsAnyByte) {
  const name_glob glob = make_name_glob("--comm", "a?");
  for (unsigned byte = 1; byte < 256; byte++) {
    const char name[] = {'a', char(byte)};
    EXPECT_TRUE(glob_fits(&glob, name, 2)) << byte;
  }
  EXPECT_FALSE(glob_fits(&glob, "a", 1));
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

TEST_F(CgroupTree, FindsACgroupByItsPathInTheMountOrInTheHierarchy) {
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
  EXPECT_EQ(found(cgroup_of_container("brief", lib)), Paths());
  std::ofstream(lib + "/containers/storage/overlay-containers/volatile-containers.json")
      << R"([{"id":")" << podman << R"(","names":["brief"]}])";
  EXPECT_EQ(found(cgroup_of_container("brief", lib)),
            Paths{"/machine.slice/libpod-" + podman + ".scope 2"})
      << "podman run --rm";
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

TEST_F(CgroupTree, TheInnermostMountGivesPathAndHierarchy) {
  make("/v1/memory/inside");
  make("/inside"); // of the same name in another hierarchy
  const std::vector<CgroupMount> mounts = {{place_, 0}, {place_ + "/v1/memory", 8}};
  const CgroupChoice choice = cgroup_at(place_ + "/v1/memory/inside", mounts);
  EXPECT_EQ(cgroup_at(place_ + "/v1/memory/inside", {mounts[1], mounts[0]}).names[0].hierarchy, 8u)
      << "in any order";
  EXPECT_EQ(choice.asked, "--cgroup " + place_ + "/v1/memory/inside");
  ASSERT_EQ(choice.names.size(), 1u);
  EXPECT_EQ(choice.names[0].hierarchy, 8u);
  EXPECT_STREQ(choice.names[0].text, "/inside");
  EXPECT_EQ(choice.names[0].length, 7u);
  const std::vector<FoundCgroup> all = find_cgroups(choice, mounts);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].cgroup.hierarchy, 8u);
  EXPECT_EQ(all[0].cgroup.level, 1u);
  struct stat status;
  ASSERT_EQ(stat((place_ + "/v1/memory/inside").c_str(), &status), 0);
  EXPECT_EQ(all[0].cgroup.id, status.st_ino);
  EXPECT_EQ(cgroup_at(place_ + "x/inside", mounts).names[0].hierarchy, SELECT_ANY_HIERARCHY)
      << "a directory beside the mount";
}

TEST_F(CgroupTree, TheFirstHierarchyThatHasOneCounts) {
  make("/one/web.service");
  make("/two/web.service");
  make("/two/db.service");
  const std::vector<CgroupMount> mounts = {{place_ + "/one", 0}, {place_ + "/two", 8}};
  const auto hierarchies = [&](const std::string &unit) {
    std::vector<uint32_t> of;
    for (const FoundCgroup &one : find_cgroups(cgroup_of_unit(unit), mounts))
      of.push_back(one.cgroup.hierarchy);
    return of;
  };
  EXPECT_EQ(hierarchies("web"), std::vector<uint32_t>{0});
  EXPECT_EQ(hierarchies("db"), std::vector<uint32_t>{8});
  EXPECT_EQ(hierarchies("none"), std::vector<uint32_t>());
}

TEST_F(CgroupTree, TheSearchEntersNoFoundCgroupAndNoLink) {
  make("/web.service/web.service");
  make("/other");
  fs::create_directory_symlink(place_ + "/web.service", place_ + "/other/web.service");
  EXPECT_EQ(found(cgroup_of_unit("web")), Paths{"/web.service 1"});
}

TEST_F(CgroupTree, AUnitWithoutATypeIsAService) {
  for (const char *type : {".service", ".scope", ".slice", ".socket", ".mount", ".swap"}) {
    EXPECT_STREQ(cgroup_of_unit(std::string("a") + type).names[0].text,
                 (std::string("a") + type).c_str());
    EXPECT_STREQ(cgroup_of_unit(type).names[0].text, (type + std::string(".service")).c_str());
  }
  EXPECT_STREQ(cgroup_of_unit("a.timer").names[0].text, "a.timer.service");
  EXPECT_EQ(cgroup_of_unit("a").asked, "--unit a");
  for (const std::string wrong : {"", "a/b"}) {
    EXPECT_EQ(usage_error_from([&] { cgroup_of_unit(wrong); }),
              "--unit '" + wrong + "' is no name of a unit of systemd, such as nginx.service");
    EXPECT_EQ(usage_error_from([&] { cgroup_of_container(wrong, place_); }),
              "--container '" + wrong + "' is no name or id of a container");
  }
  EXPECT_EQ(usage_error_from([] { cgroup_at("", {}); }),
            "--cgroup needs a path, such as /sys/fs/cgroup/system.slice");
}

TEST(CgroupName, HasAsMuchTextAsFits) {
  const std::string most(sizeof cgroup_name().text - 1, 'a');
  const cgroup_name name = make_cgroup_name(most, true, false, 3);
  EXPECT_EQ(name.text, most);
  EXPECT_EQ(name.length, most.size());
  EXPECT_EQ(name.anywhere, 1u);
  EXPECT_EQ(name.open, 0u);
  EXPECT_EQ(name.hierarchy, 3u);
  EXPECT_EQ(make_cgroup_name("a", false, true).open, 1u);
  EXPECT_EQ(make_cgroup_name("a", false, true).anywhere, 0u);
  EXPECT_EQ(make_cgroup_name("a", false, true).hierarchy, SELECT_ANY_HIERARCHY);
  try {
    make_cgroup_name(most + "a", true, false);
    FAIL() << "it does not fit";
  } catch (const Error &error) {
    EXPECT_EQ(std::string(error.what()),
              "the name of a cgroup is too long: " + std::to_string(most.size() + 1) +
                  " bytes, and " + std::to_string(most.size()) + " is the limit");
    EXPECT_EQ(error.status(), kExitUsage);
  }
}

/// All names that a choice has: "text", with "…" where more may follow.
std::vector<std::string> names_of(const CgroupChoice &choice) {
  std::vector<std::string> names;
  for (const cgroup_name &name : choice.names)
    names.push_back(name.text + std::string(name.open ? "…" : ""));
  return names;
}

TEST_F(CgroupTree, AContainerHasTheNamesOfEachManager) {
  const std::string none = place_ + "/none";
  EXPECT_EQ(cgroup_of_container("abc1", none).asked, "--container abc1");
  EXPECT_EQ(names_of(cgroup_of_container("abc1", none)),
            (Paths{"docker-abc1…", "libpod-abc1…", "cri-containerd-abc1…", "nerdctl-abc1…",
                   "crio-abc1…", "machine-abc1.scope", "systemd-nspawn@abc1.service"}));
  EXPECT_EQ(names_of(cgroup_of_container("0123456789ab", none)).at(5), "0123456789ab…");
  EXPECT_EQ(names_of(cgroup_of_container("0123456789a", none)).at(5), "machine-0123456789a.scope")
      << "too short for a cgroup that is only an id";
  EXPECT_EQ(
      names_of(cgroup_of_container("a b:c_d.e-", none)),
      (Paths{"machine-a b:c_d.e-.scope", "systemd-nspawn@a b:c_d.e-.service",
             "machine-a\\x20b:c_d.e\\x2d.scope", "systemd-nspawn@a\\x20b:c_d.e\\x2d.service"}));
}

TEST_F(CgroupTree, EachStorageOfPodmanHasAListOfNames) {
  for (const char *driver : {"overlay", "vfs", "btrfs", "zfs"}) {
    const std::string folder = place_ + "/containers/storage/" + driver + "-containers";
    fs::create_directories(folder);
    std::ofstream(folder + "/containers.json")
        << R"([{"id":"of-)" << driver << R"(","names":[")" << driver << R"("]}])";
  }
  for (const std::string driver : {"overlay", "vfs", "btrfs", "zfs"})
    EXPECT_EQ(names_of(cgroup_of_container(driver, place_)).at(0), "docker-of-" + driver + "…");
}

TEST_F(CgroupTree, AHierarchyOfSeveralControllersIsKnownByItsFirst) {
  std::ofstream(place_ + "/mounts") << "30 24 0:26 / /cpu rw - cgroup cgroup rw,cpuacct,cpu\n"
                                       "31 24 0:27 / /pids rw - cgroup cgroup rw,pids_of_another\n"
                                       "32 24 0:28 / /new rw - cgroup2 cgroup2 rw\n"
                                       "33 24 0:29 / /tmp rw - tmpfs cgroup rw,pids\n";
  std::ofstream(place_ + "/cgroups") << "bad\n12:cpu,cpuacct:/\n9:pids:/\n0::/\n";
  const std::vector<CgroupMount> mounts = cgroup_mounts(place_ + "/mounts", place_ + "/cgroups");
  ASSERT_EQ(mounts.size(), 2u);
  EXPECT_EQ(mounts[0].place, "/new");
  EXPECT_EQ(mounts[1].place, "/cpu");
  EXPECT_EQ(mounts[1].hierarchy, 12u);
}

TEST_F(CgroupTree, AMountHasItsRootPlaceVersionAndOptions) {
  std::ofstream(place_ + "/mounts")
      << "30 24 0:26 /a /b rw shared:9 master:1 - cgroup src rw,memory\n"
         "31 24 0:27 / /c rw - cgroup2 src rw,nsdelegate\n"
         "32 24 0:28 / /d rw - cgroup3 src rw\n";
  const std::vector<ovnitrace::CgroupTree> trees = cgroup_trees(place_ + "/mounts");
  ASSERT_EQ(trees.size(), 2u);
  EXPECT_EQ(trees[0].version, 1);
  EXPECT_EQ(trees[0].root, "/a");
  EXPECT_EQ(trees[0].place, "/b");
  EXPECT_EQ(trees[0].options, "rw,memory");
  EXPECT_EQ(trees[1].version, 2);
  EXPECT_EQ(trees[1].place, "/c");
  EXPECT_EQ(trees[1].options, "rw,nsdelegate");
  EXPECT_TRUE(cgroup_trees(place_ + "/none").empty());
}

TEST_F(CgroupTree, APlaceOfAProcessHasHierarchyControllersAndPath) {
  std::ofstream(place_ + "/cgroups") << "12:cpu,cpuacct:/a:b\n7:\n0::/c\n";
  const std::vector<CgroupPlace> places = cgroup_places(place_ + "/cgroups");
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].hierarchy, 12u);
  EXPECT_EQ(places[0].controllers, "cpu,cpuacct");
  EXPECT_EQ(places[0].path, "/a:b");
  EXPECT_EQ(places[1].hierarchy, 0u);
  EXPECT_EQ(places[1].controllers, "");
  EXPECT_EQ(places[1].path, "/c");
}

TEST_F(CgroupTree, ANamespaceOfItsOwnIsNotTheFirstOne) {
  std::ofstream(place_ + "/ns") << "";
  EXPECT_TRUE(in_cgroup_namespace(place_ + "/ns"));
  EXPECT_FALSE(in_cgroup_namespace(place_ + "/none"));
}

TEST_F(CgroupTree, ASlashAtTheEndOfAPathDoesNotCount) {
  for (const char *path : {"a", "/a", "a/", "/a/", "/a//"})
    EXPECT_STREQ(cgroup_at(path, {}).names[0].text, "/a") << path;
}

TEST(NameGlob, AQuestionMarkIsAnyByteOfAName) {
  const name_glob glob = make_name_glob("--comm", "a?");
  for (const char *name : {"a\xff", "a\x01", "aa"})
    EXPECT_TRUE(glob_fits(&glob, name, 2)) << name;
  EXPECT_FALSE(glob_fits(&glob, "a", 1));
}

TEST_F(CgroupTree, APathIsThatOfOneCgroup) {
  make("/a/b");
  make("/a/bc");
  make("/b");
  EXPECT_EQ(found(cgroup_at("/b", {})), Paths{"/b 1"});
  EXPECT_EQ(found(cgroup_at("/", {})), Paths{"/ 0"});
  EXPECT_EQ(found(cgroup_at(place_ + "/a/b/", {{place_, 0}})), Paths{"/a/b 2"});
  EXPECT_EQ(cgroup_at("/b", {}).names[0].hierarchy, SELECT_ANY_HIERARCHY);
  EXPECT_EQ(cgroup_at("/b", {}).names[0].anywhere, 0u);
  EXPECT_EQ(cgroup_at("/b", {}).names[0].open, 0u);
}

TEST(SelectionErrors, SayWhatIsExpected) {
  EXPECT_EQ(test::usage_error_from([] { make_name_glob("--comm", ""); }),
            "--comm needs a name, such as 'worker*'");
  EXPECT_EQ(
      test::usage_error_from([] { make_name_glob("--no-comm", "abcdefghijklmnop"); }),
      "--no-comm 'abcdefghijklmnop': the kernel keeps 15 characters of a thread's name; write "
      "'abcdefghijklmn*'");
  EXPECT_EQ(test::usage_error_from([] { cgroup_at("", {}); }),
            "--cgroup needs a path, such as /sys/fs/cgroup/system.slice");
  EXPECT_EQ(test::usage_error_from([] { cgroup_of_unit("a/b"); }),
            "--unit 'a/b' is no name of a unit of systemd, such as nginx.service");
  EXPECT_EQ(test::usage_error_from([] { cgroup_of_container("a/b", "/none"); }),
            "--container 'a/b' is no name or id of a container");
  EXPECT_EQ(cgroup_of_container("ab", "/none").asked, "--container ab");
}

} // namespace ovnitrace::test
