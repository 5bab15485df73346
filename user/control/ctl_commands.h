// SPDX-License-Identifier: BSD-2-Clause
// Lists the commands of `ovnitrace ctl`.
#pragma once

#include <string>
#include <string_view>

namespace ovnitrace::control {

struct CtlCommand {
  std::string_view name;
  std::string_view argument; ///< what follows the name; empty: nothing
  std::string_view does;
};

inline constexpr CtlCommand kCtlCommands[] = {
    {"status", "[--json]", "print what the capture has done so far"},
    {"mark", "TEXT", "put a mark with this text into the trace, at the present time"},
    {"save", "", "save what a flight recorder (--buffer last) holds, as a separate trace"},
    {"pause", "", "record nothing from now on; the trace shows this time as a gap"},
    {"resume", "", "record again"},
    {"stop", "", "end the capture; with --control, hit each armed stop:interactive alarm instead"},
    {"start", "", "with --control: hit each armed interactive alarm that is not a stop"},
};

} // namespace ovnitrace::control
