// SPDX-License-Identifier: BSD-2-Clause
// What a capture answers `ovnitrace ctl`: user/record/ctl_answers.
#include "user/record/ctl_answers.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace ovnitrace {
namespace {

using Pair = std::pair<std::string, std::string>;

Pair parsed(const std::string &line) {
  const CtlLine parts = parse_ctl_line(line);
  return {parts.command, parts.argument};
}

TEST(CtlLine, IsACommandAndTheRest) {
  EXPECT_EQ(parsed("status"), Pair("status", ""));
  EXPECT_EQ(parsed("status --json"), Pair("status", "--json"));
  EXPECT_EQ(parsed("mark two  words"), Pair("mark", "two  words"));
  EXPECT_EQ(parsed("mark "), Pair("mark", ""));
  EXPECT_EQ(parsed(" mark"), Pair("", "mark"));
  EXPECT_EQ(parsed(""), Pair("", ""));
}

TEST(CtlAnswers, TheStatusIsATextOrJson) {
  const CaptureStatus status = {.elapsed = 2'000'000'000, .events = 3};
  EXPECT_EQ(answer_status(status, "", ""), "ok\n" + text_of(status));
  EXPECT_EQ(answer_status(status, "--jsonl", "region: 1\n"),
            "ok\n" + text_of(status) + "region: 1\n");
  EXPECT_EQ(answer_status(status, "--json", "region: 1\n"),
            "ok\n" + json_of(status, "region: 1\n"));
}

TEST(CtlAnswers, WhatIsPausedCannotBePaused) {
  EXPECT_EQ(refuse_pause(false, true), "");
  EXPECT_EQ(refuse_pause(true, false), "");
  EXPECT_EQ(refuse_pause(true, true), "error\nthe capture is paused already\n");
  EXPECT_EQ(refuse_pause(false, false), "error\nthe capture is recording already\n");
}

TEST(CtlAnswers, AMarkHasATextOf100BytesAtMost) {
  const std::string length = "error\na mark needs a text, which must not be too long\n",
                    number = "error\nthe trace has as many marks as it can have\n";
  EXPECT_EQ(refuse_mark("a", 0), "");
  EXPECT_EQ(refuse_mark(std::string(100, 'a'), 65'534), "");
  EXPECT_EQ(refuse_mark("", 0), length);
  EXPECT_EQ(refuse_mark(std::string(101, 'a'), 0), length);
  EXPECT_EQ(refuse_mark("a", 65'535), number);
}

TEST(CtlAnswers, ASaveHasAPlaceOrFailed) {
  EXPECT_EQ(answer_save("run.1"), "ok\nsaved to run.1\n");
  EXPECT_EQ(answer_save(""), "error\ncould not be saved: the messages of the capture say why\n");
}

TEST(CtlAnswers, AnUnknownCommandIsNamed) {
  EXPECT_EQ(answer_unknown("a\x1b"), "error\nunknown command: a?\n");
}

} // namespace
} // namespace ovnitrace
