// SPDX-License-Identifier: BSD-2-Clause
// The secret that a sender and a collector share.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace ovnitrace {

/// What HMAC-SHA256 makes: 32 bytes.
using Digest = std::array<uint8_t, 32>;

inline std::string_view bytes_of(const Digest &digest) {
  return {reinterpret_cast<const char *>(digest.data()), digest.size()};
}

/// HMAC-SHA256 (RFC 2104) of the parts, one behind another.
Digest hmac(std::string_view key, std::initializer_list<std::string_view> parts);

/// In a time that does not tell where they differ.
bool equal(const Digest &digest, std::string_view bytes);

/// From the kernel, for a nonce. Throws Error.
Digest random_digest();

/// The content of a key file, a newline at its end left out. Throws Error if others than its owner
/// may read it, or if it is no regular file of 16 to 4096 bytes.
std::string read_key(const std::string &path);

} // namespace ovnitrace
