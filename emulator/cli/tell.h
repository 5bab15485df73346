// What a command says to a person, on stderr.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace ovnitrace {

/// The program's own name, before each thing it says. "ovnitrace" before it is set.
void set_program_name(const std::string &name);

/// Writes "PROGRAM: text" and a newline. A stderr that is closed or full is no failure of what is being done:
/// never throws for it.
void say(const std::string &text) noexcept;

template <typename... Arguments> void tell(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
  say(fmt::format(format, std::forward<Arguments>(arguments)...));
}

} // namespace ovnitrace
