// SPDX-License-Identifier: BSD-2-Clause
// Reads numbers strictly: digits and nothing else.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace ovnitrace {

/// Returns the number that the whole text is. Returns nothing if there is anything else in it, such
/// as a blank, or if the number does not fit.
template <class Number> std::optional<Number> to_number(std::string_view text, int base = 10) {
  Number number{};
  const char *const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

} // namespace ovnitrace
