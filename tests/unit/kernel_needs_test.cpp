// SPDX-License-Identifier: BSD-2-Clause
// What is said of a kernel that refuses our programs, and what of them is used all the same.
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
