// SPDX-License-Identifier: BSD-2-Clause
// Prints messages for people on standard error. Nothing else writes there.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace ovnitrace {

/// Sets the name before each message. The default is "ovnitrace".
void set_program_name(const std::string &name);

/// Writes "PROGRAM: text" and a newline. Control characters become '?' (printable_line()), except
/// line ends, because names may be chosen by anybody. Ignores a closed or full stderr. Never
/// throws.
void print_text(const std::string &text) noexcept;

template <typename... Arguments>
void print(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
  print_text(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// Switches the output of log_debug(), which is off at first.
void set_debug_log(bool on);
bool has_debug_log() noexcept;

/// Prints "PROGRAM: debug: text", for people who examine why a capture is not as expected.
template <typename... Arguments>
void log_debug(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
  if (has_debug_log())
    print_text("debug: " + fmt::format(format, std::forward<Arguments>(arguments)...));
}

} // namespace ovnitrace
