// SPDX-License-Identifier: BSD-2-Clause
// Options of recording together: defaults, limits, and what excludes what.
#include "tests/unit/support/record_arguments.h"
#include "user/cli/checked_options.h"

#include <ovnitrace/ftrace_codes.h>

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace ovnitrace {
namespace {

constexpr uint64_t kKiB = 1 << 10, kMiB = 1 << 20;
using test::app, test::error_of, test::kChain;

RecordArguments attached() {
  RecordArguments arguments = app();
  arguments.options.command.clear();
  arguments.options.pids = {1};
  return arguments;
}

using Change = std::function<void(RecordArguments &)>;

TEST(CheckedOptions, DefaultsAreSet) {
  const RecordOptions options = checked(app());
  EXPECT_EQ(options.chunk_bytes, kMiB);
  EXPECT_EQ(options.spare_chunks, 16u);
  EXPECT_EQ(options.ring_bytes, 8 * kMiB);
  EXPECT_EQ(options.buffer.kind, BufferKind::kJtn);
  EXPECT_EQ(options.compress_level, 1);
  EXPECT_EQ(options.stacks, 0u);
  EXPECT_EQ(options.trigger_saves, 0u);
  EXPECT_EQ(options.stack_depth, CAPTURE_STACK_DEPTH);
  EXPECT_EQ(options.duration, 0u);
  EXPECT_TRUE(options.children);
  EXPECT_TRUE(options.cmdlines);
  EXPECT_EQ(options.live, nullptr);
  for (const std::string *text :
       {&options.directory, &options.send, &options.key_file, &options.user, &options.on_save})
    EXPECT_EQ(*text, "");
  for (const bool asked : {options.all, options.region_by_thread, options.force, options.debuginfod,
                           options.early_out, options.save_on_region_stop, options.opens_browser})
    EXPECT_FALSE(asked);
}

TEST(CheckedOptions, AChunkIsASixteenthOfASmallBuffer) {
  const auto chunk = [](const std::string &buffer) {
    RecordArguments arguments = app();
    arguments.buffer = buffer;
    return checked(arguments).chunk_bytes;
  };
  EXPECT_EQ(chunk("last:64K"), 4 * kKiB);
  EXPECT_EQ(chunk("last:8K"), 4 * kKiB) << "the least";
  EXPECT_EQ(chunk("stop:1M"), 64 * kKiB);
  EXPECT_EQ(chunk("stop:32M"), kMiB) << "the default is the most";
}

TEST(CheckedOptions, SizesHaveLimits) {
  const auto sized = [](uint64_t ring, uint64_t chunk) {
    RecordArguments arguments = app();
    arguments.options.ring_bytes = ring;
    arguments.options.chunk_bytes = chunk;
    arguments.options.spare_chunks = 1;
    return arguments;
  };
  EXPECT_EQ(checked(sized(64 * kKiB, 4 * kKiB)).ring_bytes, 64 * kKiB);
  EXPECT_EQ(checked(sized(64 * kKiB + 1, 4 * kKiB)).ring_bytes, 128 * kKiB) << "a power of 2";
  EXPECT_EQ(error_of(sized(64 * kKiB - 1, kMiB)),
            "--ring-size: 65535 bytes are out of range; give 64 KiB to 1024 MiB");
  EXPECT_EQ(error_of(sized((1 << 30) + 1, kMiB)).find("--ring-size: 1073741825 bytes"), 0u);
  EXPECT_EQ(error_of(sized(kMiB, 4 * kKiB - 1)),
            "--chunk-size: 4095 bytes are out of range; give 4 KiB to 256 MiB");
  EXPECT_EQ(error_of(sized(kMiB, 256 * kMiB + 1)).find("--chunk-size: 268435457 bytes"), 0u);
  for (const auto &[ring, chunk] : {std::pair(1024 * kMiB, 4 * kKiB), {kMiB, 256 * kMiB}}) {
    const std::string error = test::error_from([&, r = ring, c = chunk] { checked(sized(r, c)); });
    EXPECT_EQ(error.find("out of range"), error.npos) << error << ": the memory may be short";
  }
}

TEST(CheckedOptions, ABufferHasTwoChunks) {
  RecordArguments arguments = app();
  arguments.options.chunk_bytes = 8 * kKiB;
  arguments.buffer = "last:16K";
  EXPECT_EQ(error_of(arguments), "");
  arguments.options.chunk_bytes++;
  EXPECT_EQ(
      error_of(arguments),
      "--buffer last:16K: 16384 bytes are too few for two chunks of 8193 bytes (--chunk-size)");
  arguments.buffer = "stop:16K";
  EXPECT_EQ(error_of(arguments), "");
}

TEST(CheckedOptions, LevelsOfCompressionAreUnderstood) {
  RecordArguments arguments = app();
  arguments.compress = "0";
  EXPECT_EQ(checked(arguments).compress_level, 0);
  arguments.compress = "7";
  EXPECT_EQ(checked(arguments).compress_level, 7);
  arguments.compress = "19";
  EXPECT_EQ(checked(arguments).compress_level, 19);
  arguments.compress = "20";
  EXPECT_EQ(error_of(arguments), "--compress: give a whole number from 0 to 19, not 20");
  arguments.compress = "x";
  EXPECT_NE(error_of(arguments), "");
}

TEST(CheckedOptions, ARotationIsASizeOrATime) {
  const auto rotation = [](const char *text) {
    RecordArguments arguments = app();
    arguments.rotate = text;
    return checked(arguments).rotation;
  };
  for (const char *size : {"64M", "65536k", "65536K"})
    EXPECT_EQ(rotation(size).bytes, 64 * kMiB) << size;
  for (const char *size : {"1g", "1G"})
    EXPECT_EQ(rotation(size).bytes, 1024 * kMiB) << size;
  for (const char *size : {"1t", "1T"})
    EXPECT_EQ(rotation(size).bytes, kMiB * kMiB) << size;
  constexpr uint64_t kMinute = 60'000'000'000;
  EXPECT_EQ(rotation("59m").time, 59 * kMinute);
  EXPECT_EQ(rotation("64min").time, 64 * kMinute);
  EXPECT_EQ(rotation("2h").time, 120 * kMinute);
  RecordArguments arguments = app();
  arguments.rotate = "64m";
  EXPECT_EQ(error_of(arguments), "--rotate 64m: m is for minutes: write 64M for MiB, or 64min");
}

TEST(CheckedOptions, ARotationHasAUnit) {
  const auto rotated = [](const std::string &text) {
    RecordArguments arguments = app();
    arguments.rotate = text;
    return arguments;
  };
  for (const std::string text : {"10", "0s", "x", "1d", "s", "500x", "min"})
    EXPECT_EQ(error_of(rotated(text)), "--rotate: '" + text +
                                           "' is no size or time above 0: write 64M or 1G, or "
                                           "10s, 5m or 1h");
  EXPECT_EQ(error_of(rotated("0M")), "--rotate: '0M' is no size or time above 0: write 64M or 1G, "
                                     "or 10s, 5m or 1h");
  EXPECT_EQ(error_of(rotated("xM")), "--rotate: xM is no size; give one like 512K, 64M or 2G");
  EXPECT_EQ(error_of(rotated("60m")),
            "--rotate 60m: m is for minutes: write 60M for MiB, or 60min");
  EXPECT_EQ(checked(rotated("10ms")).rotation.time, 10'000'000u);
  EXPECT_EQ(checked(rotated("10s")).rotation.bytes, 0u);
  EXPECT_EQ(checked(rotated("1M")).rotation.time, 0u);
  EXPECT_FALSE(checked(app()).rotation.wanted());
}

TEST(CheckedOptions, ARotationWritesToThisDiskWithoutStacks) {
  RecordArguments keep = app();
  keep.options.rotation.keep = 2;
  EXPECT_EQ(error_of(keep), "--keep needs --rotate SIZE|TIME");
  keep.rotate = "1M";
  EXPECT_EQ(checked(keep).rotation.keep, 2u);
  keep.options.send = "tcp://h:1";
  EXPECT_EQ(error_of(keep), "--rotate does not go with --send");
  keep.options.send.clear();
  keep.buffer = "stop:1M";
  EXPECT_EQ(error_of(keep), "--rotate needs --buffer disk, the default");
  keep.buffer = "disk";
  keep.stacks = "user";
  EXPECT_EQ(error_of(keep), "--rotate does not go with --stacks: stacks are named when the capture "
                            "ends");
}

TEST(CheckedOptions, SkipAndLengthAreAChain) {
  const auto chain = [](uint64_t skip, uint64_t length) {
    RecordArguments arguments = app();
    arguments.skip = skip;
    arguments.length = length;
    return checked(arguments).control;
  };
#ifdef __x86_64__
  EXPECT_EQ(chain(5, 0), std::vector<std::string>{"start:icount:5"});
  EXPECT_EQ(chain(0, 7), std::vector<std::string>{"stop:icount:7"});
  EXPECT_EQ(chain(5, 7), std::vector<std::string>{"start:icount:5,stop:icount:7"});
#endif
  EXPECT_TRUE(chain(0, 0).empty());
  RecordArguments both = app();
  both.skip = 5;
  both.options.control = {kChain};
  EXPECT_EQ(error_of(both), "--skip and --length exclude --control: write --control "
                            "start:icount:5, which means the same");
}

TEST(CheckedOptions, OptionsThatExcludeEachOtherAreRefused) {
  struct {
    RecordArguments from;
    Change change;
    const char *start; ///< of the error; empty: it is right
  } const cases[] = {
      {attached(), [](auto &) {}, ""},
      {attached(), [](auto &a) { a.options.children = false; }, ""},
      {app(), [](auto &a) { a.options.children = false; }, "--no-children needs -p PID"},
      {app(), [](auto &a) { a.options.command.clear(); }, "nothing to trace: give a program"},
      {app(), [](auto &a) { a.options.command.clear(), a.options.all = true; }, ""},
      {app(), [](auto &a) { a.options.pids = {1}; },
       "either a program after -- or -p PID, not both"},
      {app(), [](auto &a) { a.options.selection.tids = {7}; }, "-t names threads that run already"},
      {app(), [](auto &a) { a.options.selection.tids = {7}, a.options.all = true; }, ""},
      {attached(), [](auto &a) { a.options.selection.tids = {7}; }, ""},
      {attached(), [](auto &a) { a.options.user = "me"; },
       "-u NAME runs a program as another user: give a program after --"},
      {app(), [](auto &a) { a.options.user = "me"; }, ""},
      {app(), [](auto &a) { a.options.directory = "-"; }, "-o -: a trace is a directory of files"},
      {app(), [](auto &a) { a.dry_run = true; },
       "--dry-run lists threads that are alive: leave the program out"},
      {attached(), [](auto &a) { a.dry_run = true; }, ""},
      {app(), [](auto &a) { a.options.selection.asked = {"--uid 1"}; }, ""},
      {app(),
       [](auto &a) { a.options.selection.asked = {"--uid 1"}, a.options.control = {kChain}; },
       "--uid 1 does not go with --control, whose chains need all threads of a process"},
      {app(), [](auto &a) { a.options.key_file = "k"; }, "--key needs --send tcp://HOST:PORT"},
      {app(), [](auto &a) { a.options.send = "tcp://h:1", a.options.key_file = "k"; }, ""},
      {app(), [](auto &a) { a.options.send = "tcp://h:1", a.options.directory = "d"; },
       "--send excludes -o DIR and -f"},
      {app(), [](auto &a) { a.options.send = "tcp://h:1", a.options.force = true; },
       "--send excludes -o DIR and -f"},
      {app(), [](auto &a) { a.options.send = "tcp://h:0"; },
       "--send tcp://h:0: nobody listens on port 0"},
      {app(), [](auto &a) { a.options.send = "udp://h:1"; },
       "--send udp://h:1: a capture is sent over TCP"},
      {app(), [](auto &a) { a.region = "thread"; }, "--region needs --control CHAIN"},
      {app(), [](auto &a) { a.options.early_out = true; }, "--early-out needs --control CHAIN"},
      {app(), [](auto &a) { a.options.control = {kChain}, a.region = "thread"; }, ""},
      {app(), [](auto &a) { a.options.control = {kChain}, a.options.early_out = true; }, ""},
      {attached(), [](auto &a) { a.options.control = {kChain}; }, ""},
      {attached(), [](auto &a) { a.options.control = {kChain}, a.options.early_out = true; },
       "--early-out ends the program that ovnitrace has started: it does not go with -p"},
      {app(), [](auto &a) { a.options.control = {kChain}, a.options.all = true; },
       "--control does not go with -a"},
      {app(), [](auto &a) { a.options.control = {kChain}, a.options.families = {}; },
       "--control needs the scheduler's events, which --filter leaves out: add +sched"},
      {app(), [](auto &a) { a.stack_depth = 1; }, "--stack-depth needs --stacks"},
      {app(), [](auto &a) { a.stack_depth = 1, a.stacks = "user"; }, ""},
      {app(), [](auto &a) { a.options.debuginfod = true; },
       "--debuginfod fetches names for stacks: add --stacks"},
      {app(), [](auto &a) { a.stacks = "user", a.options.families = {}; },
       "--stacks needs the scheduler's events, which --filter leaves out: add +sched"},
      {app(), [](auto &a) { a.options.families = {}; }, ""},
      {app(), [](auto &a) { a.options.probe_files = {"f"}, a.options.families = {}; },
       "--probe is for user events, which --filter leaves out: add +user to it"},
      {app(), [](auto &a) { a.options.trigger_saves = 1; }, "--max-saves needs --trigger EVENT"},
      {app(), [](auto &a) { a.options.on_save = "true"; }, "--on-save needs --buffer last:SIZE"},
      {app(), [](auto &a) { a.options.on_save = "true", a.buffer = "last:1M"; }, ""},
      {app(), [](auto &a) { a.triggers = {"task_end"}; }, "--trigger needs --buffer last:SIZE"},
      {app(), [](auto &a) { a.triggers = {"task_end"}, a.buffer = "stop:1M"; },
       "--trigger needs --buffer last:SIZE"},
      {app(), [](auto &a) { a.triggers = {"latency:5ms"}; }, "--trigger needs --buffer last:SIZE"},
      {app(), [](auto &a) { a.triggers = {"latency:5ms"}, a.rotate = "10s"; }, ""},
      {app(), [](auto &a) { a.triggers = {"exit:a"}, a.rotate = "1M", a.options.on_save = "x"; },
       ""},
      {app(), [](auto &a) { a.triggers = {"task_end"}, a.rotate = "10s"; },
       "--trigger task_end cannot be used with --rotate: use latency, preempted"},
      {app(), [](auto &a) { a.rotate = "10s", a.options.on_save = "x"; },
       "--on-save needs --buffer last:SIZE, or --rotate and --trigger"},
      {app(), [](auto &a) { a.triggers = {"exit:a"}, a.rotate = "10s", a.buffer = "last:1M"; },
       "--rotate needs --buffer disk"},
      {app(), [](auto &a) { a.triggers = {"exit:a"}, a.rotate = "10s", a.buffer = "stop:1M"; },
       "--rotate needs --buffer disk"},
      {app(), [](auto &a) { a.json = true, a.dry_run = true; },
       "--dry-run lists threads that are alive: leave the program out"},
      {attached(), [](auto &a) { a.json = true, a.dry_run = true; }, ""},
      {app(),
       [](auto &a) {
         a.options.probe_files = {"f"};
         a.options.families = FamilySet(1u << FTRACE_FAMILY_USER);
       },
       ""},
      {app(), [](auto &a) { a.triggers = {"latency:5"}, a.buffer = "last:1M"; },
       "--trigger latency:5: '5' is no time above 0 with a unit"},
      {app(), [](auto &a) { a.triggers = {"region_stop"}, a.buffer = "last:1M"; },
       "--trigger region_stop needs --control CHAIN"},
  };
  for (size_t n = 0; n < std::size(cases); n++) {
    RecordArguments arguments = cases[n].from;
    cases[n].change(arguments);
    const std::string error = error_of(arguments);
    EXPECT_EQ(error.substr(0, *cases[n].start ? strlen(cases[n].start) : error.size()),
              cases[n].start)
        << n;
  }
}

TEST(CheckedOptions, ErrorsAreWholeSentences) {
  struct {
    RecordArguments from;
    Change change;
    const char *error;
  } const cases[] = {
      {app(), [](auto &a) { a.options.command.clear(); },
       "nothing to trace: give a program after --, as in `sudo ovnitrace -- ./app`, a process with "
       "-p PID, or -a for the whole machine; see `ovnitrace --help`"},
      {app(), [](auto &a) { a.options.selection.tids = {7}; },
       "-t names threads that run already, and a program after -- has none yet: give -p, or -t "
       "without a program"},
      {app(), [](auto &a) { a.options.send = "tcp://h:1", a.options.directory = "d"; },
       "--send excludes -o DIR and -f: the collector names and writes the trace"},
      {app(), [](auto &a) { a.options.send = "udp://h:1"; },
       "--send udp://h:1: a capture is sent over TCP: give tcp://HOST:PORT; only programs with "
       "libovnitrace send over UDP"},
      {app(), [](auto &a) { a.options.send = "tcp://h:0"; },
       "--send tcp://h:0: nobody listens on port 0"},
      {app(), [](auto &a) { a.options.control = {kChain}, a.options.all = true; },
       "--control does not go with -a: chains are of processes. Name them with -p"},
      {app(), [](auto &a) { a.options.early_out = true; }, "--early-out needs --control CHAIN"},
      {app(), [](auto &a) { a.triggers = {"task_end"}; },
       "--trigger needs --buffer last:SIZE or --rotate"},
      {app(), [](auto &a) { a.options.on_save = "true"; },
       "--on-save needs --buffer last:SIZE, or --rotate and --trigger"},
      {app(), [](auto &a) { a.triggers = {"task_end"}, a.rotate = "10s"; },
       "--trigger task_end cannot be used with --rotate: use latency, preempted, "
       "idle-while-waiting, blocked or exit, or record with --buffer last:SIZE"},
      {app(), [](auto &a) { a.triggers = {"region_stop"}, a.buffer = "last:1M"; },
       "--trigger region_stop needs --control CHAIN"},
      {app(),
       [](auto &a) {
         a.options.ring_bytes = (1 << 30) + 1;
         a.options.chunk_bytes = 4096;
       },
       "--ring-size: 1073741825 bytes are out of range; give 64 KiB to 1024 MiB"},
  };
  for (const auto &[from, change, error] : cases) {
    RecordArguments arguments = from;
    change(arguments);
    EXPECT_EQ(error_of(arguments), error);
  }
}

TEST(CheckedOptions, FiltersAloneRecordTheMachine) {
  RecordArguments arguments = app();
  arguments.options.selection.asked = {"--uid 1"};
  EXPECT_FALSE(checked(arguments).all);
  arguments.options.command.clear();
  EXPECT_TRUE(checked(arguments).all);
  arguments.options.pids = {1};
  EXPECT_FALSE(checked(arguments).all);
}

TEST(CheckedOptions, RegionThreadMakesRegionsOfThreads) {
  RecordArguments arguments = app();
  arguments.options.control = {kChain};
  EXPECT_FALSE(checked(arguments).region_by_thread);
  arguments.region = "global";
  EXPECT_FALSE(checked(arguments).region_by_thread);
  arguments.region = "thread";
  EXPECT_TRUE(checked(arguments).region_by_thread);
}

TEST(CheckedOptions, AnEndlessChainCannotEndTheProgram) {
  RecordArguments arguments = app();
  arguments.options.control = {std::string(kChain) + ",stop:exit_func:f,repeat"};
  EXPECT_EQ(error_of(arguments), "");
  arguments.options.early_out = true;
  EXPECT_NE(error_of(arguments).find("--early-out: this chain repeats endlessly"),
            std::string::npos)
      << error_of(arguments);
}

TEST(CheckedOptions, StacksHaveADepthAndParts) {
  RecordArguments arguments = app();
  arguments.stacks = "user";
  const uint32_t user = checked(arguments).stacks;
  EXPECT_NE(user, 0u);
  EXPECT_EQ(checked(arguments).stack_depth, RecordOptions().stack_depth);
  arguments.stack_depth = 5;
  EXPECT_EQ(checked(arguments).stack_depth, 5u);
  arguments.stacks = "kernel";
  EXPECT_NE(checked(arguments).stacks, user);
}

TEST(CheckedOptions, PrintNotesAndWarnIfTheSchedulerIsLeftOut) {
  const auto printed = [](const Change &change) {
    RecordArguments arguments = app();
    arguments.options.quiet = false;
    change(arguments);
    testing::internal::CaptureStderr();
    checked(arguments);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(printed([](auto &) {}), "");
  EXPECT_EQ(printed([](auto &a) { a.notes = {"one", "two"}; }), "ovnitrace: one\novnitrace: two\n");
  EXPECT_EQ(printed([](auto &a) { a.notes = {"one"}, a.options.quiet = true; }), "");
  EXPECT_EQ(printed([](auto &a) { a.options.families = {}; }),
            "ovnitrace: warning: without sched no states are shown\n");
  const auto families = [](RecordArguments &a) {
    a.options.families = FamilySet(1u << FTRACE_FAMILY_SIGNAL | 1u << FTRACE_FAMILY_TIMER);
  };
  EXPECT_EQ(printed(families), "ovnitrace: warning: without sched no states are shown; --filter "
                               "+signal adds signal to the default\n");
  EXPECT_EQ(printed([&](auto &a) { families(a), a.options.quiet = true; }), "");
}

} // namespace
} // namespace ovnitrace
