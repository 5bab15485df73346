// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/ctl_answers.h"

#include "emulator/base/printable.h"
#include "emulator/input/trace_info.h"

#include <fmt/core.h>

#include <algorithm>

namespace ovnitrace {

CtlLine parse_ctl_line(const std::string &line) {
  const size_t blank = std::min(line.find(' '), line.size());
  return {line.substr(0, blank), blank < line.size() ? line.substr(blank + 1) : ""};
}

std::string answer_status(const CaptureStatus &status, const std::string &argument,
                          const std::string &regions) {
  return kCtlDone + (argument == "--json" ? json_of(status, regions) : text_of(status) + regions);
}

std::string refuse_pause(bool is_paused, bool pauses) {
  return is_paused != pauses ? ""
                             : fmt::format("error\nthe capture is {} already\n",
                                           is_paused ? "paused" : "recording");
}

std::string refuse_mark(const std::string &text, size_t marks) {
  if (text.empty() || text.size() > kLongestMark)
    return "error\na mark needs a text, which must not be too long\n";
  return marks < kMostTraceMarks ? "" : "error\nthe trace has as many marks as it can have\n";
}

std::string answer_save(const std::string &place) {
  return place.empty() ? "error\ncould not be saved: the messages of the capture say why\n"
                       : fmt::format("ok\nsaved to {}\n", place);
}

std::string answer_unknown(const std::string &command) {
  return fmt::format("error\nunknown command: {}\n", printable_line(command));
}

} // namespace ovnitrace
