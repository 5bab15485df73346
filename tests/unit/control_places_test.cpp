// SPDX-License-Identifier: BSD-2-Clause
// Where the alarms of --control are probed in a file: its paths, functions that each process
// chooses, addresses of where it is loaded.
#include "tests/unit/support/temp_dir.h"
#include "user/control/bodies.h"
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
  std::ofstream(dir.path() + "/another") << "";
  EXPECT_EQ(places(dir.path() + "/another+1000", image), 0u) << "of the same device";
  EXPECT_EQ(places("link+1000", image), 0u) << "a bare name is compared, and not looked for";
  Image moved = image;
  moved.device++;
  EXPECT_EQ(places(link + "+1000", moved), 0u) << "the same number on another device";
}

TEST(ControlPlaces, AnOperatorWithAPlusIsAFunction) {
  Image image = image_of("/bin/app");
  image.functions = {{"_ZN1aplEi", 0x1001}}; // a::operator+(int)
  EXPECT_EQ(places("a::operator+", image), 1u);
  EXPECT_EQ(places("operator+", image), 1u);
}

TEST(ControlPlaces, WithoutKnownFunctionsNoAddressIsDoubtful) {
  const Places found = find_places(make_plan({"start:address:app+1001"}), image_of("/bin/app"));
  EXPECT_EQ(found.found[0], 1u);
  EXPECT_EQ(found.notes, std::vector<std::string>());
}

TEST(ControlPlaces, AnIndirectFunctionIsExplained) {
  Image image = image_of("/lib/libx.so");
  image.indirect = {{"copy", 0x1000}};
  image.functions = {{"__copy_fast", 0x1001}, {"copy_chooser", 0x1000}};
  for (const char *alarm : {"start:enter_func:copy", "start:address:copy"}) {
    const Places found = find_places(make_plan({alarm}), image);
    EXPECT_EQ(found.found[0], 0u);
    ASSERT_EQ(found.unfit.size(), 1u) << alarm;
    EXPECT_TRUE(found.unfit[0].indirect);
    EXPECT_EQ(found.unfit[0].why,
              "copy in /lib/libx.so is an IFUNC: when the file is loaded, each process chooses one "
              "of several functions; name that function, for example __copy_fast, or give "
              "IMAGE+OFFSET (docs/control.md says how to find it)");
  }
  image.functions.clear();
  const Places alone = find_places(make_plan({"start:enter_func:copy"}), image);
  ASSERT_EQ(alone.unfit.size(), 1u);
  EXPECT_NE(alone.unfit[0].why.find("; name that function, or give IMAGE+OFFSET ("),
            std::string::npos);
  for (const char *name : {"copy1", "copy2", "copy3", "copy4", "copy5", "copy6"})
    image.functions.push_back({name, 0x1001});
  EXPECT_NE(find_places(make_plan({"start:enter_func:copy"}), image)
                .unfit[0]
                .why.find("for example copy1, copy2, copy3, copy4, copy5, or"),
            std::string::npos);
  image.functions = {{"__copy_fast", 0x1001}};
  EXPECT_TRUE(find_places(make_plan({"start:enter_func:__copy_fast"}), image).unfit.empty());
}

TEST(ControlPlaces, AddressesFollowTheLoadAddress) {
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

/// A function of two instructions, data behind it that looks like a marker, and a function.
Image image_with_data() {
  Image image;
  image.path = "/bin/app";
  image.code.push_back({0x1000,
                        0x1000,
                        {0x87, 0xdb, 0xb8, 0x87, 0xdb, 0x90, 0x90, 0xc3, // xchg; mov; ret
                         0x90, 0x90, 0x87, 0xdb, 0x00, 0x00, 0x00, 0x48, // data
                         0x87, 0xdb, 0xc3}});                            // xchg; ret
  image.bodies = {{0x1000, 0x1008}, {0x1010, 0x1013}};
  return image;
}

TEST(ControlPlaces, AnAddressInsideAnInstructionIsRefused) {
  const Image image = image_with_data();
  for (const char *start : {"app+1000", "app+1002", "app+1007", "app+1010", "app+1012"})
    EXPECT_EQ(places(start, image), 1u) << start;
  for (const char *inside : {"app+1003", "app+1005", "app+100b", "app+1011"})
    EXPECT_EQ(places(inside, image), 0u) << inside;
  const Places found = find_places(make_plan({"start:address:app+1005"}), image);
  ASSERT_EQ(found.unfit.size(), 1u);
  EXPECT_EQ(found.unfit[0].why,
            "0x1005 in /bin/app cannot be probed: it is inside the instruction at 0x1002");
  EXPECT_TRUE(found.notes.empty());
}

TEST(ControlPlaces, AnExitThatCannotBeProbedIsRefused) {
  const Image image = image_of("/bin/app"); // its function has no size
  const Places found = find_places(make_plan({"start:enter_func:foo,stop:exit_func:foo"}), image);
  EXPECT_EQ(found.found, (std::vector<uint32_t>{1, 0}));
  ASSERT_EQ(found.unfit.size(), 1u);
  EXPECT_EQ(found.unfit[0].alarm, 1u);
  EXPECT_EQ(found.unfit[0].why, "the exit of the function at 0x1000 in /bin/app cannot be probed: "
                                "its symbol has no size");
  EXPECT_TRUE(found.notes.empty());
}

#if defined(__x86_64__)
TEST(ControlPlaces, FunctionsOfOneNameOfWhichNoneCanBeProbedAreOnlyRefused) {
  Image image = image_of("/bin/app");
  image.code[0].bytes = {0xcc, 0xcc, 0x55}; // two breakpoints, and a push
  image.functions = {{"foo", 0x1000}, {"foo", 0x1001}};
  const Plan plan = make_plan({"start:enter_func:foo"});
  EXPECT_EQ(find_places(plan, image).unfit.size(), 2u);
  EXPECT_EQ(find_places(plan, image).notes, std::vector<std::string>());
  image.functions.push_back({"foo", 0x1002});
  EXPECT_EQ(find_places(plan, image).notes,
            std::vector<std::string>{"3 functions are called foo in /bin/app: the alarm is set in "
                                     "1 of them"});
}
#endif

TEST(ControlPlaces, AnAddressOfTheFileIsNotOneOfTheProcess) {
  Image image = image_of("/bin/app");
  image.code.push_back({0x200000, 0x2000, {0x90}});
  const auto find = [&](const std::string &address) {
    return find_places(make_plan({"stop:timeout:1,start:address:" + address}), image);
  };
  EXPECT_EQ(find("0x1001").as_linked, 2u);
  EXPECT_NE(find("0x1001").hints[1].find("such as app+1001"), std::string::npos);
  EXPECT_EQ(find("0x200000").as_linked, 2u);
  EXPECT_EQ(find("0x300").as_linked, 2u) << "nothing is ever loaded there";
  EXPECT_EQ(find("0x300000").as_linked, 0u) << "a program that is executed later may be";
  EXPECT_EQ(find("0x300000").hints[1].find("such as"), std::string::npos);
  image.fixed = true;
  EXPECT_EQ(find("0x1001").as_linked, 0u);
}

TEST(ControlPlaces, AnAddressThatMayBeDataIsReported) {
  const auto notes = [](const std::string &place) {
    return find_places(make_plan({"start:address:" + place}), image_with_data()).notes;
  };
  EXPECT_EQ(notes("app+1000"), std::vector<std::string>());
  EXPECT_EQ(notes("app+1008"),
            std::vector<std::string>{"0x1008 in /bin/app is in no known function: a program that "
                                     "reads it as data sees the probe"});
}

TEST(ControlPlaces, DataThatLooksLikeAnInstructionIsNotProbed) {
  Image image = image_with_data();
  const Places found = find_places(make_plan({"start:magic:1.2"}), image);
  EXPECT_EQ(found.found[0], 2u);
  ASSERT_EQ(found.probes.at(ProbeKind::alarm).size(), 2u);
  EXPECT_EQ(found.probes.at(ProbeKind::alarm)[0].offset, 0x1000u);
  EXPECT_EQ(found.probes.at(ProbeKind::alarm)[1].offset, 0x1010u) << "though data runs into it";
  ASSERT_EQ(found.notes.size(), 1u);
  EXPECT_EQ(found.notes[0].find("1 instructions in /bin/app may be data"), 0u) << found.notes[0];
  image.bodies = {{0x1010, 0x1013}};
  EXPECT_EQ(find_places(make_plan({"start:magic:1.2"}), image)
                .notes.at(0)
                .find("2 instructions in /bin/app may be data"),
            0u);
  image.bodies.clear();
  EXPECT_EQ(find_places(make_plan({"start:magic:1.2"}), image).found[0], 2u)
      << "nothing says what is a function: all counts, decoded from the start";
}

TEST(ControlPlaces, FunctionsAreFoundInUnwindInformation) {
  const auto word = [](uint32_t value) {
    return std::string(reinterpret_cast<const char *>(&value), sizeof(value));
  };
  const std::string common = word(0x14) + word(0) + std::string("\1zR\0\1\x78\x10\1\x1b", 9) +
                             std::string(7, '\0'); // relative addresses of 32 bits
  const auto function = [&](uint32_t at, uint32_t to, uint32_t size) {
    return word(0x10) + word(at + 4) + word(to - (at + 8)) + word(size) + word(0);
  };
  std::string frames = common + function(0x18, 0x500, 0x20) + function(0x2c, 0x600, 0);
  EXPECT_EQ(bodies_of_frames(frames, 0x9000), (std::vector<Body>{{0x9500, 0x9520}}));
  frames += function(0x40, 0x700, 1);
  for (size_t length = 0; length < frames.size(); length++)
    EXPECT_LE(bodies_of_frames(frames.substr(0, length), 0x9000).size(), 1u);
  EXPECT_EQ(bodies_of_frames(frames, 0x9000).size(), 2u);
  frames[0x16] = '\x50'; // an encoding that is not known
  frames[0x10] = '\x50';
  EXPECT_LE(bodies_of_frames(frames, 0x9000).size(), 2u);
  EXPECT_TRUE(bodies_of_frames(std::string(100, '\xff'), 0).empty());
}

TEST(ControlPlaces, AddressesBelow4MibAreOfFilesThatAreLoadedElsewhere) {
  Image image = image_of("/bin/app");
  image.base = 0x800;
  image.code.push_back({0x3ffffe, 0x2000, {0x90, 0x90, 0x90, 0x90}});
  const auto find = [&](const std::string &address) {
    return find_places(make_plan({"start:address:" + address}), image);
  };
  EXPECT_EQ(find("0x3fffff").as_linked, 1u);
  EXPECT_EQ(find("0x400000").as_linked, 0u) << "a program may be linked for it";
  EXPECT_EQ(find("0xffff").as_linked, 1u);
  EXPECT_EQ(find("0x10000").as_linked, 0u);
  EXPECT_TRUE(find("0x1001").hints[0].ends_with(": use IMAGE+OFFSET, such as app+801"));
}

} // namespace
} // namespace ovnitrace::control
