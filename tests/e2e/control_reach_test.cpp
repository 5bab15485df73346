// SPDX-License-Identifier: BSD-2-Clause
// What --control finds: files by any path, addresses of a process, several timeouts and commands.
// What it cannot find, it reports.
#include "tests/e2e/support/regions.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>

namespace ovnitrace::test {

namespace {

/// A program of 32 bits whose only code is exit(7).
void write_program_of_32_bits(const std::string &path) {
  constexpr uint32_t kBase = 0x10000;
  const unsigned char code[] = {0xb8, 1, 0, 0, 0, 0xbb, 7, 0, 0, 0, 0xcd, 0x80};
  Elf32_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS32;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = EM_386;
  header.e_version = EV_CURRENT;
  header.e_entry = kBase + sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr);
  header.e_phoff = header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(Elf32_Phdr);
  header.e_phnum = 1;
  Elf32_Phdr segment = {};
  segment.p_type = PT_LOAD;
  segment.p_flags = PF_R | PF_X;
  segment.p_vaddr = kBase;
  segment.p_filesz = segment.p_memsz = sizeof(header) + sizeof(segment) + sizeof(code);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(&header), sizeof(header));
  file.write(reinterpret_cast<const char *>(&segment), sizeof(segment));
  file.write(reinterpret_cast<const char *>(code), sizeof(code));
  file.close();
  std::filesystem::permissions(path, std::filesystem::perms(0755));
}

} // namespace

class ControlReach : public RegionTest {
protected:
  /// The address of foo in a process without random addresses, and its offset in the file.
  void find_foo() {
    const Outcome outcome = run({.argv = {"setarch", "-R", installed("regions"), "where"}});
    if (outcome.status() != 0)
      GTEST_SKIP() << "no process without random addresses here: " << outcome.err;
    ASSERT_EQ(std::sscanf(outcome.out.c_str(), "where %lx %lx", &address_, &offset_), 2);
  }
  Outcome ctl(const std::string &what) const {
    return run({.argv = {ovnitrace(), "ctl", trace(), what}});
  }

  unsigned long address_ = 0, offset_ = 0;
};

TEST_F(ControlReach, ATimeoutFiresAtItsCount) {
  Process capture(record_command(trace(), {installed("regions"), "spin=" + path("go")},
                                 {"--control", "start:timeout:1:count2"}));
  eventually([&] { return ctl("status").out.find("in a region") != std::string::npos; },
             "two timeouts are over");
  write_text(path("go"), "");
  read(capture.wait());
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].started_by, "timeout");
  EXPECT_GT(all[0].start, begin_ + 2'000'000'000);
}

TEST_F(ControlReach, ACountedCommandPrintsItsCount) {
  Process capture(
      record_command(trace(), {"sleep", "60"}, {"--control", "start:interactive:count2:bcast"}));
  eventually([&] { return ctl("status").status() == 0; }, "the capture listens");
  const Outcome first = ctl("start");
  EXPECT_EQ(first.status(), 0) << first.err;
  EXPECT_EQ(first.out, "start:interactive:count2:bcast: 1 of 2\n");
  EXPECT_NE(ctl("status").out.find("in no region"), std::string::npos);
  EXPECT_EQ(ctl("start").out, "");
  EXPECT_NE(ctl("status").out.find("in a region"), std::string::npos);
  EXPECT_EQ(ctl("start").status(), 1) << "nothing waits for it any more";
  capture.signal(SIGTERM);
  read(capture.wait());
  EXPECT_EQ(regions().size(), 1u);
}

TEST_F(ControlReach, AnImageIsFoundByItsPathHoweverItIsStarted) {
  find_foo();
  char offset[32];
  snprintf(offset, sizeof(offset), "+%lx", offset_);
  const std::filesystem::path program = installed("regions");
  const Outcome check =
      run({.argv = {ovnitrace(), "control", "--check", "start:address:" + program.string() + offset,
                    "--", "./" + program.filename().string()},
           .cwd = program.parent_path()});
  EXPECT_EQ(check.status(), 0) << check.out << check.err;
  EXPECT_NE(check.out.find(": 1 place in"), std::string::npos) << check.out;
}

TEST_F(ControlReach, AnAddressIsFoundWhenAProgramIsLoadedThere) {
  find_foo();
  char alarm[64];
  snprintf(alarm, sizeof(alarm), "start:address:0x%lx,stop:enter_func:bar", address_);
  Command capture =
      record_command(trace(), {installed("regions"), "wait=2", "foo", "bar"}, {"--control", alarm});
  capture.argv.insert(capture.argv.begin(), {"setarch", "-R"});
  const Outcome outcome = run(capture);
  read(outcome);
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u) << outcome.err;
  EXPECT_EQ(all[0].started_by, "address");
  EXPECT_GT(all[0].start, mark("wait"));
  EXPECT_LT(all[0].start, mark("foo"));
}

/// 16 chains with 64 alarms: eight chains with one alarm, and eight with seven.
TEST_F(ControlReach, AcceptsTheMaximumOfChainsAndAlarms) {
  if (skip_if_impossible({"start:int3"}))
    return;
  const bool has_cpuid = are_possible({"start:cpuid:5"});
  std::vector<std::string> options, expected = {"timeout/1/1", "interactive/2/1"};
  for (const char *chain : {
           "start:timeout:1:bcast",
           "start:interactive",
           "threadid:itext:0f1f8044332211",
           has_cpuid ? "threadid:cpuid:5:tid0" : "threadid:itext:0f1f8044332211:tid0",
           "threadid:enter_func:boo:count7:global",
           "start:exit_func:recursive:count7",
           "threadid:isa-category:X87_ALU,waitfor:last",
           "start:int3",
       })
    options.insert(options.end(), {"--control", chain});
  for (const char *alarm : {"itext/3/1", has_cpuid ? "cpuid/4/1" : "itext/4/1", "enter_func/5/1",
                            "exit_func/6/1", "isa-category/7/1", "int3/8/1"})
    expected.push_back(alarm);
  const std::string kLong[] = {"address:foo",  "enter_func:foo:global", "exit_func:bar",
                               "ssc:11223344", "magic:7.9:bcast",       "isa-extension:SSE4",
                               "pcontrol:roi", "enter_func:tick:bcast"};
  for (size_t n = 0; n < std::size(kLong); n++) {
    const std::string mark = "threadid:" + kLong[n], other = ",precond:" + kLong[n] + ",";
    options.insert(options.end(),
                   {"--control", mark + other + mark + other + mark + other + mark +
                                     (n + 1 == std::size(kLong) ? ",name:last" : "")});
    for (const char *step : {"/1", "/3", "/5", "/7"})
      expected.push_back(kLong[n].substr(0, kLong[n].find(':')) + "/" + std::to_string(9 + n) +
                         step);
  }
  std::vector<std::string> program = {installed("regions"), "spin=" + path("go")};
  for (int round = 0; round < 7; round++)
    for (const char *step :
         {"foo", "bar", "boo", "ssc", "magic", "crc", "pcontrol=roi", "recursive"})
      program.push_back(step);
  for (const char *step : {"itext", "cpuid", "int3", "turns=1:30", "x87"})
    program.push_back(step);
  Process capture(record_command(trace(), program, options));
  eventually([&] { return ctl("status").out.find("in a region") != std::string::npos; },
             "the timeout is over");
  EXPECT_EQ(ctl("start").status(), 0);
  write_text(path("go"), "");
  read(capture.wait());
  std::vector<std::string> seen = alarms();
  std::sort(seen.begin(), seen.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(seen, expected);
}

TEST_F(ControlReach, AFunctionThatEachProcessChoosesIsRefused) {
  for (const char *chain :
       {"start:enter_func:chosen", "start:enter_func:foo,stop:address:chosen"}) {
    const Outcome outcome =
        run(record_command(trace(), {installed("regions"), "foo"}, {"--control", chain}));
    EXPECT_EQ(outcome.status(), 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find("IFUNC"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("chosen_one"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("^~~~~~"), std::string::npos) << outcome.err;
  }
}

TEST_F(ControlReach, APlaceThatCannotBeProbedIsRefused) {
  const Outcome where = run({.argv = {installed("regions"), "where"}});
  ASSERT_EQ(std::sscanf(where.out.c_str(), "where %*x %lx", &offset_), 1);
  char inside[64], as_linked[64];
  snprintf(inside, sizeof(inside), "address:regions+%lx", offset_ + 1);
  snprintf(as_linked, sizeof(as_linked), "address:0x%lx", offset_); // in a process it is another
  const struct {
    const char *alarm, *why;
  } kCases[] = {
      {"exit_func:never", "the exit of the function at 0x"},
      {inside, "it is inside the instruction at 0x"},
      {as_linked, "such as regions+"},
  };
  for (const auto &one : kCases) {
    SCOPED_TRACE(one.alarm);
    const std::string chain = std::string("start:") + one.alarm + ",stop:timeout:1";
    for (const Command &command :
         {record_command(trace(), {installed("regions"), "foo"}, {"--control", chain}),
          Command{
              .argv = {ovnitrace(), "control", "--check", chain, "--", installed("regions")}}}) {
      const Outcome outcome = run(command);
      EXPECT_EQ(outcome.status(), 2) << outcome.err;
      EXPECT_EQ(outcome.out, "") << "the program ran";
      EXPECT_NE(outcome.err.find(one.why), std::string::npos) << outcome.err;
      EXPECT_NE(outcome.err.find("^~~"), std::string::npos) << outcome.err;
      for (const char *wrong : {"no loaded file", "similar names", "is armed when"})
        EXPECT_EQ(outcome.err.find(wrong), std::string::npos) << outcome.err;
    }
  }
}

TEST_F(ControlReach, APlaceOfARunningProcessThatCannotBeProbedIsRefused) {
  Process program({.argv = {installed("regions"), "spin=" + path("go"), "foo"}});
  eventually([&] { return program.out().find("spin") != std::string::npos; }, "it runs");
  for (const char *alarm : {"start:exit_func:never", "start:address:0x300"}) {
    const Outcome outcome =
        run(record_command(trace(), {}, {"-p", std::to_string(program.pid()), "--control", alarm}));
    EXPECT_EQ(outcome.status(), 2) << outcome.err;
    EXPECT_EQ(outcome.err.find("is armed when"), std::string::npos) << outcome.err;
  }
  write_text(path("go"), "");
  EXPECT_EQ(program.wait().status(), 0);
}

/// The alarm is inside the first instruction of a function.
TEST_F(ControlReach, APlaceThatCannotBeProbedInALibraryThatIsOpenedLaterIsReportedOnce) {
  void *library = dlopen("libz.so.1", RTLD_NOW);
  Dl_info info;
  ASSERT_TRUE(library && dladdr(dlsym(library, "zlibCompileFlags"), &info));
  char chain[256];
  snprintf(chain, sizeof(chain), "start:address:%s+%lx", info.dli_fname,
           uintptr_t(info.dli_saddr) - uintptr_t(info.dli_fbase) + 1);
  const Outcome outcome = run(
      record_command(trace(), {installed("regions"), "dlopen=libz.so.1:zlibCompileFlags", "wait=2"},
                     {"--control", chain}));
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_NE(outcome.out.find("wait"), std::string::npos) << "it ran to its end";
  const size_t said = outcome.err.find("it is inside the instruction at 0x");
  ASSERT_NE(said, std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("it is inside", said + 1), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("was never armed"), std::string::npos) << outcome.err;
}

TEST_F(ControlReach, AProgramThatIsNotInThePathIsNamed) {
  const Outcome outcome = run({.argv = {ovnitrace(), "control", "--check", "start:enter_func:foo",
                                        "--", "no-such-program"}});
  EXPECT_EQ(outcome.status(), 1);
  EXPECT_NE(outcome.err.find("cannot find no-such-program in PATH"), std::string::npos)
      << outcome.err;
}

TEST_F(ControlReach, AProgramOf32BitsIsRefusedOrReported) {
  const std::string program = path("of32bits");
  write_program_of_32_bits(program);
  Outcome outcome = run(record_command(trace(), {program}, {"--control", "start:enter_func:foo"}));
  EXPECT_EQ(outcome.status(), 2) << outcome.err;
  EXPECT_NE(outcome.err.find("64-bit program"), std::string::npos) << outcome.err;
  if (run({.argv = {program}}).status() != 7)
    GTEST_SKIP() << "this kernel runs none";
  outcome = run(record_command(trace(), {"/bin/sh", "-c", "exec " + program},
                               {"--control", "start:enter_func:foo"}));
  EXPECT_EQ(outcome.status(), 7) << outcome.err;
  EXPECT_NE(outcome.err.find("64-bit program"), std::string::npos) << outcome.err;
}

} // namespace ovnitrace::test
