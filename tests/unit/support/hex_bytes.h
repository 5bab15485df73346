// SPDX-License-Identifier: BSD-2-Clause
// Bytes that a test writes in hexadecimal.
#pragma once

#include <string>
#include <string_view>

namespace ovnitrace::test {

/// Returns the bytes of "0f 1e fa": two digits each, with a blank between.
inline std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (size_t at = 0; at + 1 < hex.size(); at += 3)
    bytes += char(std::stoi(std::string(hex.substr(at, 2)), nullptr, 16));
  return bytes;
}

} // namespace ovnitrace::test
