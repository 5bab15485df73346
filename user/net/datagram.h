// SPDX-License-Identifier: BSD-2-Clause
// Parses datagrams of the S.Ha.R.K. tracer's format, which libovnitrace sends: docs/network.md.
#pragma once

#include <ovnitrace/ftrace_record.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ovnitrace {

inline constexpr size_t kDatagramHeader = 24; ///< "TRACER-V1.0", number, events, size
inline constexpr size_t kMostRecords = 60;    ///< in a datagram
inline constexpr size_t kMostDatagram = kDatagramHeader + kMostRecords * sizeof(ftrace_record);

struct Datagram {
  uint32_t number = 0; ///< from 1
  uint32_t count = 0;
  std::array<ftrace_record, kMostRecords> records;

  std::span<const ftrace_record> all() const { return {records.data(), count}; }
};

/// Parses a datagram. Every field must agree with the number of bytes; otherwise it returns
/// nothing, and sets `why`.
std::optional<Datagram> parse_datagram(std::string_view bytes, const char *&why);

} // namespace ovnitrace
