// SPDX-License-Identifier: BSD-2-Clause
// Messages for people, on standard error: the one place that writes there.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace ovnitrace {

/// The name that stands before each message. "ovnitrace" before it is set.
void set_program_name(const std::string &name);

/// Writes "PROGRAM: text" and a newline. Names in it may be anybody's: what a terminal would obey
/// instead of showing it becomes '?' (printable_line()), but for line ends. A stderr that is closed
/// or full is no failure of what is being done: never throws for it.
void print_text(const std::string &text) noexcept;

template <typename... Arguments>
void print(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
  print_text(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// Whether log_debug() prints. It does not before this is called.
void set_debug_log(bool on);
bool has_debug_log() noexcept;

/// Prints "PROGRAM: debug: text", for whoever looks for why a capture is not as it should be.
template <typename... Arguments>
void log_debug(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
  if (has_debug_log())
    print_text("debug: " + fmt::format(format, std::forward<Arguments>(arguments)...));
}

} // namespace ovnitrace
