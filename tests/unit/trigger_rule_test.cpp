// SPDX-License-Identifier: BSD-2-Clause
// Triggers that the kernel side decides: how they are written, and a hit in words.
#include "emulator/base/error.h"
#include "user/bpf/trigger_capture.h"
#include "user/cli/trigger_rule.h"

#include <gtest/gtest.h>

#include <cstring>

namespace ovnitrace {
namespace {

/// The error of a text; empty if it is a rule, "none" if it is of no kind.
std::string rule_error(const std::string &text) {
  try {
    return parse_trigger_rule(text) ? "" : "none";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), kExitUsage);
    return error.what();
  }
}

bool fits(const name_glob &glob, const std::string &name) {
  return glob_fits(&glob, name.data(), uint32_t(name.size()));
}

std::string text_of_kind(trigger_kind kind, const trigger_hit &hit) {
  trigger_rule rule = {};
  rule.kind = kind;
  return text_of(rule, hit);
}

TEST(TriggerRule, HasAKindATimeAndAPattern) {
  const struct {
    const char *text;
    trigger_kind kind;
    uint64_t least_ns;
    bool has_glob;
  } cases[] = {{"latency:5ms", TRIGGER_LATENCY, 5'000'000, false},
               {"latency:200us:redis*", TRIGGER_LATENCY, 200'000, true},
               {"blocked:1.5s", TRIGGER_BLOCKED, 1'500'000'000, false},
               {"preempted:1m:*", TRIGGER_PREEMPTED, 60'000'000'000, true},
               {"idle-while-waiting:3ms:a", TRIGGER_IDLE, 3'000'000, true},
               {"exit:worker?", TRIGGER_EXIT, 0, true}};
  for (const auto &[text, kind, least_ns, has_glob] : cases) {
    const std::optional<trigger_rule> rule = parse_trigger_rule(text);
    ASSERT_TRUE(rule) << text;
    EXPECT_EQ(rule->kind, uint32_t(kind)) << text;
    EXPECT_EQ(rule->least_ns, least_ns) << text;
    EXPECT_EQ(rule->has_glob, uint32_t(has_glob)) << text;
  }
}

TEST(TriggerRule, APatternMayHaveColons) {
  for (const char *text : {"latency:5ms:kworker/0:*", "exit:kworker/0:*"}) {
    const name_glob glob = parse_trigger_rule(text).value().glob;
    EXPECT_TRUE(fits(glob, "kworker/0:1")) << text;
    EXPECT_FALSE(fits(glob, "kworker/1:1")) << text;
  }
}

TEST(TriggerRule, AnEventIsNotARule) {
  for (const char *text : {"task_end", "region_stop", "latencies:5ms", ":5ms", ""})
    EXPECT_EQ(rule_error(text), "none") << text;
}

TEST(TriggerRule, AnErrorSaysWhatToWrite) {
  for (const char *time : {"5", "0ms", "-5ms", "ms", "5 ms", "5mss", "5ms5", "1e99s"})
    EXPECT_EQ(rule_error(std::string("latency:") + time),
              std::string("--trigger latency:") + time + ": '" + time +
                  "' is no time above 0 with a unit: write 5ms, 200us or 1s");
  EXPECT_EQ(rule_error("latency"), "--trigger latency: write latency:TIME[:GLOB]");
  EXPECT_EQ(rule_error("blocked:"), "--trigger blocked:: write blocked:TIME[:GLOB]");
  EXPECT_EQ(rule_error("exit"), "--trigger exit: write exit:GLOB");
  EXPECT_EQ(rule_error("latency:5ms:"), "--trigger latency:5ms: needs a name, such as 'worker*'");
  EXPECT_NE(rule_error("exit:sixteen_letters_").find("the kernel keeps 15 characters"),
            std::string::npos);
}

TEST(TriggerRule, AHitIsNamedWithItsThread) {
  trigger_hit hit = {.time = 1, .ns = 7'200'000, .hits = 1, .tid = 4711, .idle_cpu = 3, .comm = {}};
  memcpy(hit.comm, "redis-server", 12);
  EXPECT_EQ(text_of_kind(TRIGGER_LATENCY, hit), "latency 7.200 ms of redis-server(4711)");
  EXPECT_EQ(text_of_kind(TRIGGER_PREEMPTED, hit), "preempted 7.200 ms of redis-server(4711)");
  EXPECT_EQ(text_of_kind(TRIGGER_EXIT, hit), "exit of redis-server(4711)");
  EXPECT_EQ(text_of_kind(TRIGGER_IDLE, hit),
            "idle-while-waiting 7.200 ms of redis-server(4711): CPU 3 was idle");
  memset(hit.comm, 'x', sizeof hit.comm);
  EXPECT_EQ(text_of_kind(TRIGGER_BLOCKED, hit), "blocked 7.200 ms of xxxxxxxxxxxxxxxx(4711)");
}

TEST(TriggerRule, LaterHitsHaveTheirNumber) {
  EXPECT_EQ(with_number("exit of a(7)", 1), "exit of a(7)");
  EXPECT_EQ(with_number("exit of a(7)", 2), "exit of a(7) (hit 2)");
  EXPECT_EQ(with_number("exit of a(7)", 12'345), "exit of a(7) (hit 12,345)");
}

} // namespace
} // namespace ovnitrace
