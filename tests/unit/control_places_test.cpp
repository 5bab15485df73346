// SPDX-License-Identifier: BSD-2-Clause
// Where the alarms of --control are probed in a file: its paths, functions that each process
// chooses, addresses of where it is loaded.
#include "tests/unit/support/temp_dir.h"
#include "user/control/places.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace ovnitrace::control {
namespace {

/// Instructions at 0x1000 and behind it, the first of which is the function `foo`. They are some of
/// x86-64 and of arm64.
Image image_of(const std::string &path) {
  Image image;
  image.path = path;
  image.code.push_back({0x1000, 0x1000, {0x55, 0xc3, 0x90, 0x90, 0x90}});
  image.functions.push_back({"foo", 0x1000});
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0) {
    image.device = status.st_dev;
    image.inode = status.st_ino;
  }
  return image;
}

uint32_t places(const std::string &place, const Image &image) {
  return find_places(make_plan({"start:address:" + place}), image).found[0];
}

TEST(ControlPlaces, AnImageIsKnownByEachOfItsPaths) {
  const test::TempDir dir;
  const std::string path = dir.path() + "/app", link = dir.path() + "/link";
  std::ofstream(path) << "";
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  const Image image = image_of(dir.path() + "/./app"); // as somebody has typed it
  EXPECT_EQ(places(path + "+1000", image), 1u);
  EXPECT_EQ(places(link + "+1000", image), 1u);
  EXPECT_EQ(places("app+1000", image), 1u);
  EXPECT_EQ(places(dir.path() + "/other+1000", image), 0u);
  EXPECT_EQ(places("link+1000", image), 0u) << "a bare name is compared, and not looked for";
}

TEST(ControlPlaces, AnIndirectFunctionIsExplained) {
  Image image = image_of("/lib/libx.so");
  image.indirect = {{"copy", 0x1000}};
  image.functions = {{"__copy_fast", 0x1001}, {"copy_chooser", 0x1000}};
  for (const char *alarm : {"start:enter_func:copy", "start:address:copy"}) {
    const Places found = find_places(make_plan({alarm}), image);
    EXPECT_EQ(found.found[0], 0u);
    EXPECT_NE(found.why[0].find("IFUNC"), std::string::npos) << alarm;
    EXPECT_NE(found.why[0].find("__copy_fast"), std::string::npos) << found.why[0];
    EXPECT_EQ(found.why[0].find("copy_chooser"), std::string::npos) << found.why[0];
  }
  EXPECT_EQ(find_places(make_plan({"start:enter_func:__copy_fast"}), image).why[0], "");
}

TEST(ControlPlaces, AnAddressIsThatOfWhereTheFileIsLoaded) {
  Image image = image_of("/bin/app");
  EXPECT_EQ(places("0x1001", image), 0u) << "it is loaded anywhere";
  image.fixed = true;
  EXPECT_EQ(places("0x1001", image), 1u);
  const Plan plan = make_plan({"start:address:0x555555555001,stop:address:foo"});
  const Places found = find_loaded_addresses(plan, image, 0x555555554000);
  EXPECT_EQ(found.found[0], 1u);
  EXPECT_EQ(found.found[1], 0u) << "that was found without";
  EXPECT_EQ(find_loaded_addresses(plan, image, 0x555555550000).found[0], 0u);
}

} // namespace
} // namespace ovnitrace::control
