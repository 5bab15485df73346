// SPDX-License-Identifier: BSD-2-Clause
// What instructions are: those that alarms look for, and those that cannot be probed.
#include "tests/unit/support/hex_bytes.h"
#include "user/control/bodies.h"
#include "user/control/cpuid_step.h"
#include "user/control/instruction_groups.h"
#include "user/control/places.h"
#include "user/control/scan.h"

#include "emulator/base/error.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace ovnitrace::control {
namespace {

using test::bytes_of;

Image image_of(std::string_view hex) {
  const std::string bytes = bytes_of(hex);
  Image image;
  image.path = "/bin/app";
  image.code.push_back({0x1000, 0x400, {bytes.begin(), bytes.end()}});
  return image;
}

using Found = std::vector<std::pair<uint64_t, uint64_t>>;

/// Addresses and alarms of what a chain looks for.
Found scanned(const std::string &chain, const Image &image) {
  Found found;
  for (const Marker &marker : scan(make_plan({chain}), image))
    found.emplace_back(marker.address, marker.alarms);
  return found;
}

TEST(ControlScan, AnSscMarkerIsThePartBehindItsMov) {
  // mov $0x11223344, %ebx; the marker; mov of another number; the marker; mov without a marker
  const Image image =
      image_of("90 bb 44 33 22 11 64 67 90 bb 45 33 22 11 64 67 90 bb 44 33 22 11 64 90 90");
  EXPECT_EQ(scanned("start:ssc:11223344", image), (Found{{0x1006, 1}}));
  EXPECT_EQ(scanned("start:timeout:1,stop:ssc:0x11223345", image), (Found{{0x100e, 2}}));
  EXPECT_EQ(scanned("start:ssc:1", image), Found());
  EXPECT_EQ(scanned("start:ssc:11223344", image_of("bb 44 33 22 11 64 67 90")),
            (Found{{0x1005, 1}}))
      << "at the end of the code";
  EXPECT_EQ(scanned("start:ssc:11223344", image_of("bb 44 33 22 11 64 67")), Found());
  EXPECT_EQ(scanned("start:ssc:11223344", image_of("ba 44 33 22 11 64 67 90")), Found()) << "edx";
}

TEST(ControlScan, AnInstructionOfBytesHasThoseAndNoMore) {
  const Image image = image_of("48 89 c7 48 89 c8 89 c7 c3");
  EXPECT_EQ(scanned("start:itext:4889c7", image), (Found{{0x1000, 1}}));
  EXPECT_EQ(scanned("start:itext:0x89C7,stop:itext:c3", image), (Found{{0x1006, 1}, {0x1008, 2}}));
  EXPECT_EQ(scanned("start:itext:0X89c7", image), (Found{{0x1006, 1}}));
  EXPECT_EQ(scanned("start:itext:4889", image), Found()) << "the start of one";
}

TEST(ControlScan, GroupsOfInstructions) {
  const Image image =
      image_of("d9 e1 66 0f fe c1 0f a2 c5 f5 fe c2 90"); // fabs; paddd; cpuid; vpaddd; nop
  EXPECT_EQ(scanned("start:isa-category:X87_ALU", image), (Found{{0x1000, 1}}));
  EXPECT_EQ(scanned("start:isa-extension:sse2", image), (Found{{0x1002, 1}}));
  EXPECT_EQ(scanned("start:isa_extension:AVX2", image), (Found{{0x1008, 1}}));
  EXPECT_EQ(scanned("start:cpuid:1", image), (Found{{0x1006, 1}}));
  EXPECT_EQ(scanned("start:cpuid:1,stop:cpuid:2,stop:isa-extension:AVX2", image),
            (Found{{0x1006, 1}, {0x1006, 2}, {0x1008, 4}}));
}

TEST(ControlScan, NothingIsLookedForByAlarmsOfOtherTypes) {
  EXPECT_EQ(scanned("start:address:foo,stop:int3", image_of("87 db cc")), Found());
  EXPECT_EQ(scanned("start:magic:1.2", image_of("66 87 db 06 87 db 87 d8")),
            (Found{{0x1000, 1}, {0x1004, 1}}))
      << "the 06 is data";
}

TEST(ControlScan, AMarkerIsInAFunctionUpToItsEnd) {
  Image image = image_of("87 db 87 db 87 db 90 90");
  image.bodies = {{0x1000, 0x1004}};
  std::vector<bool> in_function;
  for (const Marker &marker : scan(make_plan({"start:magic:1.2"}), image))
    in_function.push_back(marker.in_function);
  EXPECT_EQ(in_function, (std::vector<bool>{true, true, false}));
}

TEST(ControlScan, EachPartOfTheCodeIsScanned) {
  Image image = image_of("90 87 db");
  image.code.insert(image.code.begin(), {0x2000, 0x800, {0x90, 0x90, 0x87, 0xdb}});
  EXPECT_EQ(scanned("start:magic:1.2", image), (Found{{0x1001, 1}, {0x2002, 1}}));
  image.bodies = {{0x1000, 0x1003}, {0x2000, 0x2002}};
  const std::vector<Marker> markers = scan(make_plan({"start:magic:1.2"}), image);
  ASSERT_EQ(markers.size(), 2u);
  EXPECT_TRUE(markers[0].in_function);
  EXPECT_EQ(markers[1].address, 0x2002u);
  EXPECT_FALSE(markers[1].in_function) << "behind the function of its own part";
}

TEST(ControlScan, GroupsThatAreNotKnownAreRefusedWithACaret) {
  EXPECT_NO_THROW(check_groups(make_plan({"start:int3,stop:isa-category:X87_ALU"})));
  try {
    check_groups(make_plan({"start:isa-extension:AVX2,stop:isa-category:AVX2000"}));
    FAIL();
  } catch (const ovnitrace::Error &error) {
    const std::string text = error.what();
    EXPECT_EQ(error.status(), kExitUsage);
    EXPECT_NE(text.find("knows no such category; there are "), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("\n" + std::string(45, ' ') + "^~~~~~~")) << text;
  }
  const std::string why = why_no_group(CONTROL_ISA_EXTENSION, "x");
  EXPECT_NE(why.find("knows no such extension; there are "), std::string::npos) << why;
  EXPECT_EQ(why.find("VIA_PADLOCK"), std::string::npos) << "that is a category";
  EXPECT_TRUE(why.ends_with(", 3DNOW, 3DNOW_PREFETCH, PTWRITE")) << why;
  EXPECT_EQ(group_of(CONTROL_ISA_EXTENSION, "INVALID"), 0);
}

#if defined(__x86_64__)

TEST(ControlProbe, InstructionsThatTheKernelRefuses) {
  const auto why = [](const char *hex) { return why_no_probe(bytes_of(hex)); };
  for (const char *fits : {"90", "c3", "48 89 c7", "64 8b 04 25 00 00 00 00", "65 90", "66 90",
                           "f3 c3", "e8 00 00 00 00", "ff e0"})
    EXPECT_EQ(why(fits), "") << fits;
  for (const char *prefix : {"f0 0f c1 07", "26 8b 07", "2e 8b 07", "36 8b 07", "3e ff e0"})
    EXPECT_EQ(why(prefix),
              "it has a prefix (lock, es, cs, ss or ds) that the kernel's probes cannot step over")
        << prefix;
  for (const char *none : {"", "06", "48", "e8 00 00 00"})
    EXPECT_EQ(why(none), "it is no instruction") << none;
  EXPECT_EQ(why("cc"), "a probe on int3 makes the program loop for ever: use the alarm int3");
  for (const char *call : {"0f 05", "0f 34"})
    EXPECT_EQ(why(call), "a probe on a system call swallows the instruction after it") << call;
  for (const char *own :
       {"cd 80", "f1", "f4", "fa", "fb", "66 cf", "cf", "48 cf", "ec", "e4 10", "ee", "e6 10"})
    EXPECT_EQ(why(own), "the kernel puts no probe on instructions of its own or for devices")
        << own;
  EXPECT_EQ(why("0f a2"), stops_after_cpuid()
                              ? ""
                              : "the hypervisor of this machine does not stop after a single "
                                "step over cpuid: the program would crash");
}

TEST(ControlProbe, LengthsOfInstructions) {
  EXPECT_EQ(instruction_length(bytes_of("90 90")), 1u);
  EXPECT_EQ(instruction_length(bytes_of("48 89 c7 90")), 3u);
  EXPECT_EQ(instruction_length(bytes_of("48 89")), 0u);
  EXPECT_EQ(instruction_length(""), 0u);
}

/// What is found of an alarm that is not the first.
Places places_of(const std::string &chain, const Image &image) {
  return find_places(make_plan({"start:timeout:1," + chain}), image);
}

std::vector<std::tuple<uint64_t, uint64_t>> probes_of(const Places &places, ProbeKind kind) {
  std::vector<std::tuple<uint64_t, uint64_t>> probes;
  if (const auto found = places.probes.find(kind); found != places.probes.end())
    for (const UprobeAt &at : found->second)
      probes.emplace_back(at.offset, at.cookie);
  return probes;
}

using Probes = std::vector<std::tuple<uint64_t, uint64_t>>;

TEST(ControlProbe, BehindTheEndbrOfAFunctionIfAPushFollows) {
  const auto probed = [](const char *hex) {
    Image image = image_of(hex);
    image.functions.push_back({"foo", 0x1000, 0});
    return probes_of(places_of("stop:enter_func:foo", image), ProbeKind::alarm);
  };
  EXPECT_EQ(probed("f3 0f 1e fa 55 c3"), (Probes{{0x404, 2}}));
  EXPECT_EQ(probed("f3 0f 1e fa 53 c3"), (Probes{{0x404, 2}}));
  EXPECT_EQ(probed("f3 0f 1e fa 50 c3"), (Probes{{0x400, 2}}));
  EXPECT_EQ(probed("f3 0f 1e fa 55"), (Probes{{0x404, 2}}));
  EXPECT_EQ(probed("f3 0f 1e fa"), (Probes{{0x400, 2}}));
  EXPECT_EQ(probed("55 c3"), (Probes{{0x400, 2}}));
}

TEST(ControlProbe, AnExitIsEachInstructionThatLeavesTheFunction) {
  Image image = image_of("55 74 01 c3 5d c3");
  image.functions.push_back({"foo", 0x1000, 6});
  const Places places = places_of("stop:exit_func:foo,stop:enter_func:foo", image);
  EXPECT_EQ(probes_of(places, ProbeKind::alarm), (Probes{{0x400, 6}}));
  EXPECT_EQ(probes_of(places, ProbeKind::leave), (Probes{{0x403, 2}, {0x405, 2}}));
  EXPECT_EQ(places.found, (std::vector<uint32_t>{0, 1, 1}));
  EXPECT_TRUE(places.notes.empty());
}

TEST(ControlProbe, TheEntryOfAFunctionWhoseExitIsWantedIsBehindItsEndbr) {
  Image image = image_of("f3 0f 1e fa 55 5d c3");
  image.functions.push_back({"foo", 0x1000, 7});
  const Places places = places_of("stop:exit_func:foo", image);
  EXPECT_EQ(probes_of(places, ProbeKind::alarm), (Probes{{0x404, 2}}));
  EXPECT_EQ(probes_of(places, ProbeKind::leave), (Probes{{0x406, 2}}));
}

TEST(ControlProbe, AnExitThatCannotBeProbedSaysWhy) {
  const auto why = [](const char *hex) {
    Image image = image_of(hex);
    image.functions.push_back({"foo", 0x1000, image.code[0].bytes.size()});
    const Places places = places_of("stop:exit_func:foo", image);
    EXPECT_EQ(places.found[1], 0u);
    return places.unfit.empty() ? "" : places.unfit[0].why;
  };
  const std::string start = "the exit of the function at 0x1000 in /bin/app cannot be probed: ";
  EXPECT_EQ(why("eb fe"), start + "it never returns");
  EXPECT_EQ(why("90 74 01 c3 cf"),
            start + "the kernel puts no probe on instructions of its own or for devices at 0x1004");
  EXPECT_EQ(why("90 74 01 cf cf"),
            start + "the kernel puts no probe on instructions of its own or for devices at 0x1003")
      << "the first one";
}

TEST(ControlProbe, AnExitNeedsTheEntryToo) {
  Image image = image_of("f0 0f c1 07 c3"); // lock xadd; ret
  image.functions.push_back({"foo", 0x1000, 5});
  const Places places = places_of("stop:exit_func:foo", image);
  EXPECT_EQ(probes_of(places, ProbeKind::alarm), Probes());
  EXPECT_EQ(probes_of(places, ProbeKind::leave), Probes()) << "no exit without its entry";
  EXPECT_EQ(places.found[1], 0u);
  ASSERT_EQ(places.unfit.size(), 1u);
  EXPECT_EQ(places.unfit[0].why.find("0x1000 in /bin/app cannot be probed: it has a prefix"), 0u)
      << places.unfit[0].why;
}

TEST(ControlProbe, PcontrolIsTheEntryOfMpiPcontrol) {
  Image image = image_of("55 c3 c3");
  image.functions = {{"MPI_Pcontrol", 0x1001, 1}, {"MPI_Pcontrol", 0x1002, 1}, {"foo", 0x1000, 1}};
  const Places places = places_of("stop:pcontrol:roi", image);
  EXPECT_EQ(probes_of(places, ProbeKind::pcontrol), (Probes{{0x401, 2}, {0x402, 2}}));
  EXPECT_EQ(probes_of(places, ProbeKind::alarm), Probes());
  EXPECT_EQ(places.found[1], 2u);
  EXPECT_TRUE(places.notes.empty()) << "only the one with the string hits";
}

TEST(ControlProbe, FunctionsOfOneNameAreReported) {
  Image image = image_of("55 c3 06 c3");
  image.functions = {{"foo", 0x1000, 1}, {"foo", 0x1001, 1}};
  const std::string start = "2 functions are called foo in /bin/app: the alarm is set in ";
  Places places = places_of("stop:enter_func:foo", image);
  EXPECT_EQ(places.notes, std::vector<std::string>{start + "all of them"});
  EXPECT_EQ(places.found[1], 2u);
  image.functions[1].address = 0x1002; // no instruction
  places = places_of("stop:enter_func:foo", image);
  EXPECT_EQ(places.notes, std::vector<std::string>{start + "1 of them"});
  ASSERT_EQ(places.unfit.size(), 1u);
  EXPECT_EQ(places.unfit[0].alarm, 1u);
  EXPECT_FALSE(places.unfit[0].indirect);
  EXPECT_EQ(places.unfit[0].why, "0x1002 in /bin/app cannot be probed: it is no instruction");
  image.functions[0].address = 0x1002;
  EXPECT_TRUE(places_of("stop:enter_func:foo", image).notes.empty());
}

TEST(ControlProbe, AnAddressOutsideTheCodeIsNone) {
  Image image = image_of("55 c3");
  image.base = 0xfff;
  const auto why = [&](const char *place) {
    const Places places = places_of(std::string("stop:address:") + place, image);
    return places.unfit.empty() ? "" : places.unfit[0].why;
  };
  EXPECT_EQ(why("app+2"), "");
  EXPECT_EQ(why("app+3"), "0x1002 in /bin/app cannot be probed: it is no code of the file");
  EXPECT_EQ(why("app+0"), "0xfff in /bin/app cannot be probed: it is no code of the file");
}

TEST(ControlProbe, MarkersThatCannotBeProbedAreCounted) {
  Image image = image_of("cd 80 cd 80 c3");
  Places places = places_of("stop:itext:cd80,stop:itext:c3", image);
  EXPECT_EQ(places.found, (std::vector<uint32_t>{0, 0, 1}));
  ASSERT_EQ(places.unfit.size(), 1u);
  EXPECT_EQ(places.unfit[0].alarm, 1u);
  EXPECT_EQ(places.unfit[0].why,
            "2 instructions in /bin/app cannot be probed: the kernel puts no probe on instructions "
            "of its own or for devices");
  EXPECT_EQ(probes_of(places, ProbeKind::alarm), (Probes{{0x404, 4}}));
  image.bodies = {{0x1000, 0x1002}};
  places = places_of("stop:itext:c3", image);
  EXPECT_EQ(places.found[1], 0u);
  EXPECT_EQ(places.notes,
            std::vector<std::string>{
                "1 instructions in /bin/app may be data and are not probed: no function that "
                "symbols or unwind information tell of has them"});
}

// The loader calls it after each library that it loads, for debuggers.
TEST(ControlProbe, TheHookOfTheLoaderIsOfNoAlarm) {
  Image image = image_of("55 c3");
  image.functions = {{"_dl_debug_state", 0x1001, 1}};
  EXPECT_EQ(probes_of(places_of("stop:int3", image), ProbeKind::library), (Probes{{0x401, 0}}));
}

TEST(ControlProbe, CodeThatCannotBeDecodedHidesWhereInstructionsBegin) {
  Image image = image_of("06 90 c3");
  const auto why = [&] {
    const Places places = places_of("stop:address:app+1001", image);
    return places.unfit.empty() ? "" : places.unfit[0].why;
  };
  EXPECT_EQ(why(), "0x1001 in /bin/app cannot be probed: it is not known where instructions begin, "
                   "because what lies before it is no code");
  image.functions = {{"foo", 0x1001, 1}};
  EXPECT_EQ(why(), "") << "a function begins there";
}

TEST(ControlBodies, AnInstructionIsFoundFromTheFunctionItIsIn) {
  Image image = image_of("06 48 89 c7 90 48 89 c7 c3");
  EXPECT_EQ(instruction_at(image, 0x1002), std::nullopt);
  image.bodies = {{0x1001, 0x1005}, {0x1005, 0x1009}};
  for (const auto &[address, start] : {std::pair(0x1001, 0x1001),
                                       {0x1002, 0x1001},
                                       {0x1003, 0x1001},
                                       {0x1004, 0x1004},
                                       {0x1005, 0x1005},
                                       {0x1007, 0x1005},
                                       {0x1008, 0x1008}})
    EXPECT_EQ(instruction_at(image, uint64_t(address)), uint64_t(start)) << std::hex << address;
  EXPECT_EQ(instruction_at(image, 0x1000), std::nullopt);
  EXPECT_EQ(instruction_at(image, 0x1009), std::nullopt);
  EXPECT_EQ(instruction_at(image, 0xfff), std::nullopt);
  image.bodies = {{0x1000, 0x1001}}; // what lies behind it is code
  EXPECT_EQ(instruction_at(image, 0x1003), 0x1001u);
}

#endif

TEST(ControlImage, HasBytesAndOffsetsOfEachPartOfTheCode) {
  Image image = image_of("11 22 33");
  image.code.push_back({0x2000, 0x800, {0x44, 0x55}});
  EXPECT_EQ(image.offset_of(0xfff), std::nullopt);
  EXPECT_EQ(image.offset_of(0x1000), 0x400u);
  EXPECT_EQ(image.offset_of(0x1002), 0x402u);
  EXPECT_EQ(image.offset_of(0x1003), std::nullopt);
  EXPECT_EQ(image.offset_of(0x2001), 0x801u);
  EXPECT_EQ(image.offset_of(0x2002), std::nullopt);
  EXPECT_EQ(image.bytes_at(0xfff, 9), "");
  EXPECT_EQ(image.bytes_at(0x1000, 2), "\x11\x22");
  EXPECT_EQ(image.bytes_at(0x1001, 9), "\x22\x33");
  EXPECT_EQ(image.bytes_at(0x1003, 9), "");
  EXPECT_EQ(image.bytes_at(0x2001, 9), "\x55");
}

} // namespace
} // namespace ovnitrace::control
