// SPDX-License-Identifier: BSD-2-Clause
// Defines the layout of stream.obs, the binary stream of an ovni thread (ovni's trace
// specification, stream version 1): a header of 8 bytes, then events without padding. Numbers have
// the byte order of the host that wrote them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ovnitrace::ovni {

inline constexpr std::string_view kStreamMagic = "ovni";
inline constexpr uint32_t kStreamVersion = 1;
inline constexpr size_t kStreamHeaderSize = 8; ///< magic, then the version as u32

/// An event: flags (u8), model, category and value letters, time in ns (u64), payload.
inline constexpr size_t kEventHeaderSize = 12;
inline constexpr uint8_t kFlagJumbo = 0x10;       ///< the payload is a u32 size and that many bytes
inline constexpr uint8_t kPayloadSizeMask = 0x0f; ///< payload size - 1; 0: no payload
inline constexpr size_t kPayloadMax = 16;         ///< bytes, of an event that is not jumbo
inline constexpr size_t kJumboSizeBytes = 4;      ///< the u32 at the start of a jumbo payload
inline constexpr uint64_t kTimeLimit = 1ull << 63; ///< ovni's times are signed

inline constexpr int kMetadataVersion = 3;                 ///< "version" of stream.json
inline constexpr std::string_view kModelVersion = "1.1.0"; ///< of the ovni model, in "require"
inline constexpr std::string_view kLibraryVersion =
    "1.14.0";                              ///< of libovni, whose format is written
inline constexpr int32_t kVirtualCpu = -1; ///< CPU index in a payload: not a physical CPU

} // namespace ovnitrace::ovni
