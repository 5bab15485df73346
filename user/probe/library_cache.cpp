// SPDX-License-Identifier: BSD-2-Clause
#include "user/probe/library_cache.h"

#include <cstdint>
#include <cstring>

namespace ovnitrace {

namespace {

// glibc, sysdeps/generic/dl-cache.h: struct cache_file_new and file_entry_new.
constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr size_t kCountAt = 20, kHeader = 48;
constexpr size_t kEntry = 24, kNameAt = 4, kPathAt = 8;

uint32_t number_at(std::string_view bytes, size_t at) {
  uint32_t value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

/// The string at `at`, empty if there is none.
std::string_view text_at(std::string_view bytes, size_t at) {
  if (at >= bytes.size())
    return {};
  const size_t end = bytes.find('\0', at);
  return end == bytes.npos ? std::string_view() : bytes.substr(at, end - at);
}

} // namespace

std::vector<std::string> LibraryCache::find(std::string_view name) const {
  std::vector<std::string> paths;
  const std::string_view bytes = bytes_;
  if (bytes.size() < kHeader || !bytes.starts_with(kMagic) || name.empty())
    return paths;
  const uint64_t count = number_at(bytes, kCountAt);
  for (uint64_t n = 0; n < count && kHeader + (n + 1) * kEntry <= bytes.size(); n++) {
    const size_t entry = kHeader + n * kEntry;
    if (text_at(bytes, number_at(bytes, entry + kNameAt)) != name)
      continue;
    const std::string_view path = text_at(bytes, number_at(bytes, entry + kPathAt));
    if (path.starts_with('/'))
      paths.emplace_back(path);
  }
  return paths;
}

} // namespace ovnitrace
