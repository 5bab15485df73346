// SPDX-License-Identifier: BSD-2-Clause
// Reads and writes datagrams of the S.Ha.R.K. tracer's format, with what ovnitrace puts into them:
// docs/network.md.
#pragma once

#include <ovnitrace/ftrace_record.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
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
  /// Returns the number of the session; 0: it is of no ovnitrace.
  uint64_t session() const;
};

/// Parses a datagram. Every field must agree with the number of bytes; otherwise it returns
/// nothing, and sets `why`.
std::optional<Datagram> parse_datagram(std::string_view bytes, const char *&why);

/// Returns the bytes of a datagram.
std::string write_datagram(const Datagram &datagram);

/// Parameter 1 of FTrace_EXT_session, the first record of a datagram of ovnitrace: what follows.
enum class DatagramKind : uint16_t {
  chunk = 0, ///< EXT_part, then records of one chunk
  name = 1,  ///< EXT_text: what the sender calls the trace
  description =
      2,   ///< EXT_part (0, offset; TSC: size of the whole), then EXT_text: a piece of trace.json
  end = 3, ///< trace_stop, then an EXT_part for each CPU: how many events were sent in all
};

inline constexpr size_t kTextInRecord = 14;
inline constexpr size_t kMostDescription = 4 << 20; ///< bytes of a trace.json in datagrams

ftrace_record text_record(std::string_view text); ///< of its first kTextInRecord characters
/// Returns the characters of such records, at most `most`.
std::string text_of(std::span<const ftrace_record> records, size_t most);

} // namespace ovnitrace
