// SPDX-License-Identifier: BSD-2-Clause
// What is said of a kernel that refuses our programs, and what of them is used all the same.
#include "emulator/base/error.h"
#include "user/bpf/bpf_log.h"
#include "user/bpf/family_set.h"
#include "user/bpf/preflight.h"

#include <bpf/libbpf.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdarg>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

const std::string kRefusal = "libbpf: prog 'hit_alarm': BPF program load failed: Invalid argument\n"
                             "libbpf: prog 'hit_alarm': -- BEGIN PROG LOAD LOG --\n"
                             "Sleepable programs can only use preallocated maps\n"
                             "processed 0 insns (limit 1000000) max_states_per_insn 0\n"
                             "-- END PROG LOAD LOG --\n";

TEST(KernelNeeds, TheVerdictIsTheLastLineBeforeTheVerifiersCount) {
  EXPECT_EQ(verifier_verdict(kRefusal), "Sleepable programs can only use preallocated maps");
  EXPECT_EQ(verifier_verdict("libbpf: failed to load object 'control_bpf'\n"), "");
  EXPECT_EQ(verifier_verdict(""), "");
  EXPECT_EQ(verifier_verdict("libbpf: prog 'a': BPF program load failed: Too many open files\n"
                             "libbpf: prog 'a': -- BEGIN PROG LOAD LOG --\n"
                             "processed 9 insns (limit 1000000) max_states_per_insn 0\n"
                             "-- END PROG LOAD LOG --\n"),
            "")
      << "the verifier has accepted it";
  EXPECT_EQ(verifier_verdict("-- BEGIN PROG LOAD LOG --\n"
                             "Func#11 ('f') is safe for any args that match its prototype\n"
                             "processed 9 insns (limit 1000000) max_states_per_insn 0\n"),
            "")
      << "it has accepted a program with functions";
}

/// As libbpf prints a warning.
void warn(libbpf_print_fn_t print, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print(LIBBPF_WARN, format, arguments);
  va_end(arguments);
}

TEST(KernelNeeds, TheVerdictIsFoundAtTheEndOfALongLog) {
  collect_bpf_log();
  const libbpf_print_fn_t collect = libbpf_set_print(nullptr);
  const std::string instructions(100'000, '\n');
  warn(collect, "%s%s", instructions.c_str(), kRefusal.c_str());
  EXPECT_EQ(why_refused(EACCES), "Sleepable programs can only use preallocated maps");
}

TEST(KernelNeeds, ARefusalOfTheVerifierIsNotBlamedOnRightsOrTheConfiguration) {
  for (int error : {EINVAL, EACCES}) {
    const std::string message = explain_bpf_failure("load the programs", error, kRefusal);
    EXPECT_NE(message.find("refuses"), message.npos) << message;
    EXPECT_NE(message.find("preallocated maps"), message.npos) << message;
    EXPECT_EQ(message.find("CAP_BPF"), message.npos) << message;
    EXPECT_EQ(message.find("CONFIG_"), message.npos) << message;
  }
  EXPECT_NE(explain_bpf_failure("load", EACCES, "").find("CAP_BPF"), std::string::npos);
}

TEST(KernelNeeds, TheVerdictOfTheLastOfSeveralProgramsCounts) {
  EXPECT_EQ(verifier_verdict("first line\nprocessed 0 insns\n"), "first line");
  EXPECT_EQ(verifier_verdict(kRefusal + "the second verdict\nprocessed 7 insns\n"),
            "the second verdict");
}

TEST(KernelNeeds, EachErrorHasItsAdvice) {
  const std::string rights =
      "; it needs root, or CAP_BPF and CAP_PERFMON (a container must be given them, and kernel "
      "lockdown must not be in confidentiality mode)";
  const std::string configuration =
      "; the kernel must be 5.15 or later, with CONFIG_BPF_SYSCALL, CONFIG_BPF_JIT and "
      "CONFIG_DEBUG_INFO_BTF";
  const std::pair<int, std::string> cases[] = {
      {EPERM, "Operation not permitted" + rights},
      {EACCES, "Permission denied" + rights},
      {ENOMEM, "Cannot allocate memory; try smaller rings (--ring-size)"},
      {EMFILE, "Too many open files; raise the limit of open files (ulimit -n): a capture needs "
               "about 64, two for each CPU, and two for each file with probes"},
      {EINVAL, "Invalid argument" + configuration},
      {ENOSYS, "Function not implemented" + configuration},
      {ESRCH, "No such process" + configuration},
      {ENOENT, "No such file or directory" + configuration},
      {EOPNOTSUPP, "Operation not supported" + configuration},
      {EBUSY, "Device or resource busy"},
  };
  for (const auto &[error, text] : cases)
    EXPECT_EQ(explain_bpf_failure("load it", error, ""), "cannot load it: " + text);
  EXPECT_EQ(explain_bpf_failure("load it", EBUSY, "one\n"),
            "cannot load it: Device or resource busy\nthe kernel and libbpf say:\none\n");
}

TEST(KernelNeeds, WhatLibbpfSaysIsPartOfTheError) {
  collect_bpf_log();
  const libbpf_print_fn_t collect = libbpf_set_print(nullptr);
  warn(collect, "%s %d\n", "first", 1);
  warn(collect, "second\n");
  EXPECT_EQ(why_refused(EBUSY), "Device or resource busy");
  for (const int error : {EBUSY, -EBUSY}) {
    try {
      fail_bpf("load it", error);
      FAIL();
    } catch (const Error &said) {
      EXPECT_STREQ(said.what(), "cannot load it: Device or resource busy\n"
                                "the kernel and libbpf say:\nfirst 1\nsecond\n");
    }
  }
  collect_bpf_log();
  libbpf_set_print(nullptr);
  EXPECT_THROW(fail_bpf("x", EBUSY), Error);
  try {
    fail_bpf("load it", EBUSY);
  } catch (const Error &said) {
    EXPECT_STREQ(said.what(), "cannot load it: Device or resource busy") << "a new log is empty";
  }
}

TEST(KernelNeeds, AFamilyThatCannotBeLoadedCostsOnlyItself) {
  std::vector<std::string> asked;
  const FamilySet refused = parse_families("timer");
  const FamilySet loaded = loadable(parse_families("all,-sched"), [&](FamilySet one) {
    asked.push_back(to_string(one));
    return !(one & refused).bits();
  });
  EXPECT_EQ(loaded, parse_families("all,-sched,-timer"));
  EXPECT_EQ(asked, (std::vector<std::string>{"user", "irq", "prio", "mutex", "signal", "server",
                                             "timer", "power"}));
}

} // namespace
} // namespace ovnitrace
