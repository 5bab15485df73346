// SPDX-License-Identifier: BSD-2-Clause
// Says how a chunk file is compressed. Its name tells: cpu0000.ftr, or cpu0000.ftr.zst.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ovnitrace {

enum class Codec : uint8_t { none, zstd };

struct CodecInfo {
  Codec codec;
  std::string_view suffix; ///< after the name of the plain file
};
/// By Codec.
inline constexpr CodecInfo kCodecs[] = {{Codec::none, ""}, {Codec::zstd, ".zst"}};

constexpr std::string_view suffix_of(Codec codec) {
  return kCodecs[size_t(codec)].suffix;
}

/// Returns the codec of a file with this name. Other endings are those of plain files.
constexpr Codec codec_of(std::string_view name) {
  for (const CodecInfo &row : kCodecs)
    if (row.codec != Codec::none && name.ends_with(row.suffix))
      return row.codec;
  return Codec::none;
}

/// Returns the name that the file has when it is plain.
constexpr std::string_view plain_file_name(std::string_view name) {
  return name.substr(0, name.size() - suffix_of(codec_of(name)).size());
}

} // namespace ovnitrace
