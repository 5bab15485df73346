// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace ctl` is answered. The first line is "ok" or "error".
#pragma once

#include "user/record/status_line.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace ovnitrace {

inline constexpr const char *kCtlDone = "ok\n",
                            *kCtlNothingToSave = "error\nonly a flight recorder (--buffer "
                                                 "last:SIZE) can be saved\n",
                            *kCtlNothingToStart =
                                "error\nthe capture has no --control, and records already\n";

/// A line that a caller has sent.
struct CtlLine {
  std::string command, argument; ///< what is behind the first blank; may be empty
};
CtlLine parse_ctl_line(const std::string &line);

/// `regions`: what --control says of its regions; empty: there is no --control.
std::string answer_status(const CaptureStatus &status, const std::string &argument,
                          const std::string &regions);
/// Returns the answer that refuses a pause, or its end; empty if it is allowed.
std::string refuse_pause(bool is_paused, bool pauses);
/// Returns the answer that refuses a mark where there are `marks` already; empty if it is allowed.
std::string refuse_mark(const std::string &text, size_t marks);
/// `place`: of the trace; empty: it could not be saved.
std::string answer_save(const std::string &place);
std::string answer_unknown(const std::string &command);

} // namespace ovnitrace
