// What a capture tells on standard error.
#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <utility>

namespace ovnitrace {

/// What cannot be printed is no failure of the capture.
template <typename... Arguments> void print(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
  std::fputs(fmt::format(format, std::forward<Arguments>(arguments)...).c_str(), stderr);
}

} // namespace ovnitrace
