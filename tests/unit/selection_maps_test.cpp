// SPDX-License-Identifier: BSD-2-Clause
// What the kernel side gets of the filters: user/bpf/selection_programs. The maps are real, and
// need root; no program is loaded.
#include "user/bpf/selection_programs.h"

#include "emulator/base/error.h"
#include "emulator/base/unique_fd.h"
#include "user/select/name_glob.h"

#include "ovnitrace.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <memory>
#include <string>

namespace ovnitrace {
namespace {

class SelectionMaps : public testing::Test {
protected:
  void SetUp() override {
    object_.reset(ovnitrace_bpf__open());
    ASSERT_TRUE(object_);
    if (!create(object_->maps.name_globs, sizeof(name_glob), 3) ||
        !create(object_->maps.cgroup_names, sizeof(cgroup_name), 3) ||
        !create(object_->maps.chosen_cgroups, sizeof(chosen_cgroup), SELECT_CGROUPS))
      GTEST_SKIP() << "this user can make no BPF maps";
  }
  /// Gives an array of `count` values to the object.
  static bool create(bpf_map *map, size_t bytes, uint32_t count) {
    const UniqueFd fd(bpf_map_create(BPF_MAP_TYPE_ARRAY, "test", sizeof(uint32_t), uint32_t(bytes),
                                     count, nullptr));
    return fd && bpf_map__reuse_fd(map, fd.get()) == 0;
  }
  template <class Value> static Value value(const bpf_map *map, uint32_t key) {
    Value found = {};
    EXPECT_EQ(bpf_map_lookup_elem(bpf_map__fd(map), &key, &found), 0) << key;
    return found;
  }
  bool fits(uint32_t glob, const std::string &name) const {
    const auto found = value<name_glob>(object_->maps.name_globs, glob);
    return glob_fits(&found, name.data(), uint32_t(name.size()));
  }
  std::unique_ptr<ovnitrace_bpf, decltype(&ovnitrace_bpf__destroy)> object_{nullptr,
                                                                            ovnitrace_bpf__destroy};
};

TEST_F(SelectionMaps, HaveThePatternsOfNamesAndThenTheRefusedOnes) {
  Selection selection;
  selection.comms = {"a*", "b"};
  selection.refused_comms = {"c?"};
  fill_selection(*object_, selection);
  EXPECT_TRUE(fits(0, "abc"));
  EXPECT_TRUE(fits(1, "b"));
  EXPECT_FALSE(fits(1, "bc"));
  EXPECT_TRUE(fits(2, "cd"));
  const bpf_map *const map = object_->maps.name_globs;
  EXPECT_EQ(value<name_glob>(map, 0).refuses, 0u);
  EXPECT_EQ(value<name_glob>(map, 1).refuses, 0u);
  EXPECT_EQ(value<name_glob>(map, 2).refuses, 1u);
}

TEST_F(SelectionMaps, HaveTheNamesOfAllChoicesOfCgroups) {
  Selection selection;
  selection.cgroups = {
      {"one", {make_cgroup_name("x", true, false), make_cgroup_name("y", true, true)}},
      {"two", {make_cgroup_name("/z", false, false, 5)}}};
  fill_selection(*object_, selection);
  const bpf_map *const map = object_->maps.cgroup_names;
  EXPECT_STREQ(value<cgroup_name>(map, 0).text, "x");
  EXPECT_STREQ(value<cgroup_name>(map, 1).text, "y");
  EXPECT_EQ(value<cgroup_name>(map, 1).open, 1u);
  EXPECT_STREQ(value<cgroup_name>(map, 2).text, "/z");
  EXPECT_EQ(value<cgroup_name>(map, 2).hierarchy, 5u);
}

TEST_F(SelectionMaps, MoreValuesThanAMapHasAreAnError) {
  Selection selection;
  selection.comms = {"a", "b", "c", "d"};
  try {
    fill_selection(*object_, selection);
    FAIL() << "the map has three";
  } catch (const Error &error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("cannot give a filter to the BPF programs: "))
        << error.what();
  }
}

// The kernel side fills the other half, from the first place up.
TEST_F(SelectionMaps, LivingCgroupsAreInTheSecondHalfFromTheLastPlaceDown) {
  const std::vector<CgroupMount> mounts = cgroup_mounts();
  struct stat root;
  if (mounts.empty() || stat(mounts[0].place.c_str(), &root) != 0)
    GTEST_SKIP() << "no hierarchy is mounted here";
  Selection selection;
  const CgroupChoice all = {"--cgroup /", {make_cgroup_name("/", false, false)}},
                     none = {"--cgroup /none", {make_cgroup_name("/none-such", false, false)}};
  selection.cgroups = {all, none, all};
  using Paths = std::vector<std::vector<std::string>>;
  EXPECT_EQ(choose_living_cgroups(*object_, selection), (Paths{{"/"}, {}, {"/"}}));
  const bpf_map *const map = object_->maps.chosen_cgroups;
  EXPECT_EQ(value<chosen_cgroup>(map, 63).id, root.st_ino);
  EXPECT_EQ(value<chosen_cgroup>(map, 62).id, root.st_ino);
  EXPECT_EQ(value<chosen_cgroup>(map, 61).id, 0u);
  selection.cgroups.assign(32, all);
  EXPECT_EQ(choose_living_cgroups(*object_, selection).size(), 32u);
  EXPECT_EQ(value<chosen_cgroup>(map, 32).id, root.st_ino);
  EXPECT_EQ(value<chosen_cgroup>(map, 31).id, 0u);
  selection.cgroups.assign(33, all);
  try {
    choose_living_cgroups(*object_, selection);
    FAIL() << "half of the places are the kernel side's";
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "--cgroup /: there are more than 32 such cgroups; name one that "
                               "contains them");
  }
}

} // namespace
} // namespace ovnitrace
