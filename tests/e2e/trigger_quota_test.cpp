// SPDX-License-Identifier: BSD-2-Clause
// --trigger and threads that may not run until the next period: docs/sessions.md says which count.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/quota.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <map>

namespace ovnitrace::test {

class TriggerQuota : public CaptureTest {
protected:
  /// Records a program with these triggers. Returns how often each has hit.
  std::map<std::string, uint64_t> hits(const std::vector<std::string> &program,
                                       const std::vector<std::string> &triggers) {
    std::vector<std::string> options = {"--buffer", "last:8M"};
    for (const std::string &trigger : triggers)
      options.insert(options.end(), {"--trigger", trigger});
    std::string text = record(program, options).err;
    std::erase(text, ',');
    std::map<std::string, uint64_t> hits;
    for (const std::string &trigger : triggers)
      hits[trigger] = number_after(text, "--trigger " + trigger + " has hit ");
    return hits;
  }
  static bool kernel_is(int major, int minor) {
    utsname names = {};
    uname(&names);
    int found_major = 0, found_minor = 0;
    std::sscanf(names.release, "%d.%d", &found_major, &found_minor);
    return std::pair(found_major, found_minor) >= std::pair(major, minor);
  }
};

// Its CPU is idle while it is throttled. It is so for 90 of 100 ms.
TEST_F(TriggerQuota, AThrottledThreadIsPreemptedButCouldUseNoIdleCpu) {
  const Quota quota;
  if (quota.path().empty() || !kernel_is(6, 18))
    GTEST_SKIP() << "no cgroup with a quota can be made here, or quotas run out while a thread "
                    "waits";
  const auto found = hits({installed("spin"), "50", quota.procs()},
                          {"idle-while-waiting:50ms:spin", "preempted:50ms:spin",
                           "latency:50ms:spin", "blocked:50ms:spin"});
  EXPECT_EQ(found.at("idle-while-waiting:50ms:spin"), 0u);
  EXPECT_GE(found.at("preempted:50ms:spin"), 1u);
  EXPECT_GE(found.at("latency:50ms:spin"), 1u);
  EXPECT_EQ(found.at("blocked:50ms:spin"), 0u);
}

// It waits for 118 of 120 ms.
TEST_F(TriggerQuota, AThreadThatWaitsForItsNextPeriodHitsNone) {
  if (run({.argv = {installed("deadline"), "meet", "1"}}).status() == 2)
    GTEST_SKIP() << "SCHED_DEADLINE is not allowed here";
  for (const auto &[trigger, count] :
       hits({installed("deadline"), "meet"},
            {"latency:60ms:deadline", "preempted:60ms:deadline", "blocked:60ms:deadline",
             "idle-while-waiting:60ms:deadline"}))
    EXPECT_EQ(count, 0u) << trigger;
}

} // namespace ovnitrace::test
