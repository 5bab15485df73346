// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/secret.h"

#include "emulator/base/error.h"
#include "emulator/base/unique_fd.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace ovnitrace {

namespace {

constexpr size_t kShortestKey = 16, kLongestKey = 4096; // bytes

const uint8_t *octets(std::string_view text) {
  return reinterpret_cast<const uint8_t *>(text.data());
}

} // namespace

Digest hmac(std::string_view key, std::initializer_list<std::string_view> parts) {
  hmac_sha256_ctx context;
  hmac_sha256_set_key(&context, key.size(), octets(key));
  for (std::string_view part : parts)
    hmac_sha256_update(&context, part.size(), octets(part));
  Digest digest;
  hmac_sha256_digest(&context, digest.size(), digest.data());
  return digest;
}

bool equal(const Digest &digest, std::string_view bytes) {
  return bytes.size() == digest.size() && memeql_sec(digest.data(), bytes.data(), digest.size());
}

Digest random_digest() {
  Digest digest;
  if (getrandom(digest.data(), digest.size(), 0) !=
      ssize_t(digest.size())) // so few bytes come at once or not
    throw Error(fmt::format("cannot get random numbers from the kernel: {}", std::strerror(errno)));
  return digest;
}

std::string read_key(const std::string &path) {
  const auto fail = [&](const std::string &why) {
    return Error(fmt::format("--key {}: {}", path, why));
  };
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
  std::string key(kLongestKey + 1, '\0');
  const ssize_t got = read(file.get(), key.data(), key.size());
  if (got < 0)
    throw fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  key.resize(size_t(got));
  if (key.ends_with('\n'))
    key.pop_back();
  if (key.size() < kShortestKey || key.size() > kLongestKey)
    throw fail(
        fmt::format("holds {} bytes; a key has {} to {}: head -c 32 /dev/urandom | base64 > FILE",
                    key.size(), kShortestKey, kLongestKey));
  return key;
}

} // namespace ovnitrace
