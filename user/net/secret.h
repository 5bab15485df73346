// SPDX-License-Identifier: BSD-2-Clause
// Reads the secret that a sender and a collector share.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ovnitrace {

/// What TLS is given for a secret: 32 bytes.
using PresharedKey = std::array<uint8_t, 32>;

/// Returns the SHA-256 of the secret. Throws Error.
PresharedKey preshared_key(std::string_view secret);

/// Returns the key of a key file, whose secret is its content without a newline at the end. Throws
/// Error if others than its owner may read the file, or if it is not a regular file with a secret
/// of 16 to 4096 bytes.
PresharedKey read_key(const std::string &path);

} // namespace ovnitrace
