// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/secret.h"

#include "emulator/base/error.h"
#include "emulator/base/unique_fd.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace ovnitrace {

namespace {

constexpr size_t kShortestSecret = 16, kLongestSecret = 4096; // bytes

} // namespace

PresharedKey preshared_key(std::string_view secret) {
  PresharedKey key;
  if (const int error =
          gnutls_hash_fast(GNUTLS_DIG_SHA256, secret.data(), secret.size(), key.data());
      error != 0)
    throw Error("cannot derive a key from the secret: {}", gnutls_strerror(error));
  return key;
}

PresharedKey read_key(const std::string &path) {
  const auto fail = [&](const std::string &why) { return Error("--key {}: {}", path, why); };
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status;
  if (!file || fstat(file.get(), &status) != 0)
    throw fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  if (!S_ISREG(status.st_mode))
    throw fail("is no regular file");
  if (status.st_mode & (S_IRWXG | S_IRWXO))
    throw fail(fmt::format(
        "others may read or write it (mode {:04o}): chmod 600 it, and make a new key if somebody "
        "may have",
        status.st_mode & 07777));
  std::string secret(kLongestSecret + 1, '\0');
  const ssize_t got = read(file.get(), secret.data(), secret.size());
  if (got < 0)
    throw fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  secret.resize(size_t(got));
  if (secret.ends_with('\n'))
    secret.pop_back();
  if (secret.size() < kShortestSecret || secret.size() > kLongestSecret)
    throw fail(
        fmt::format("has {} bytes; a key has {} to {}: head -c 32 /dev/urandom | base64 > FILE",
                    secret.size(), kShortestSecret, kLongestSecret));
  return preshared_key(secret);
}

} // namespace ovnitrace
