// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/datagram.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace ovnitrace {

static_assert(std::endian::native == std::endian::little, "numbers are sent as they are");

namespace {

constexpr std::string_view kMagic("TRACER-V1.0", 12); // with its 0

struct Header {
  char id[kMagic.size()];
  uint32_t number, events, size;
};
static_assert(sizeof(Header) == kDatagramHeader);

} // namespace

uint64_t Datagram::session() const {
  return count && records[0].code == FTrace_EXT_session ? ftrace_record_tsc(&records[0]) : 0;
}

std::optional<Datagram> parse_datagram(std::string_view bytes, const char *&why) {
  Header header;
  why = "shorter than its header";
  if (bytes.size() < sizeof header)
    return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  why = "not of the tracer";
  if (std::string_view(header.id, sizeof header.id) != kMagic)
    return std::nullopt;
  why = "of another length than it says";
  if (header.size != bytes.size())
    return std::nullopt;
  why = "of another number of events than it says";
  if (header.events > kMostRecords ||
      kDatagramHeader + header.events * sizeof(ftrace_record) != bytes.size())
    return std::nullopt;
  why = "without a number";
  if (header.number == 0)
    return std::nullopt;
  Datagram datagram{.number = header.number, .count = header.events, .records = {}};
  std::memcpy(datagram.records.data(), bytes.data() + kDatagramHeader,
              header.events * sizeof(ftrace_record));
  return datagram;
}

std::string write_datagram(const Datagram &datagram) {
  const size_t records = datagram.count * sizeof(ftrace_record);
  Header header = {{}, datagram.number, datagram.count, uint32_t(kDatagramHeader + records)};
  std::memcpy(header.id, kMagic.data(), kMagic.size());
  std::string bytes(reinterpret_cast<const char *>(&header), sizeof header);
  return bytes.append(reinterpret_cast<const char *>(datagram.records.data()), records);
}

ftrace_record text_record(std::string_view text) {
  ftrace_record record = {};
  record.code = FTrace_EXT_text;
  std::memcpy(reinterpret_cast<char *>(&record) + sizeof record.code, text.data(),
              std::min(text.size(), kTextInRecord));
  return record;
}

std::string text_of(std::span<const ftrace_record> records, size_t most) {
  std::string text;
  for (const ftrace_record &record : records)
    if (record.code == FTrace_EXT_text)
      text.append(reinterpret_cast<const char *>(&record) + sizeof record.code, kTextInRecord);
  text.resize(std::min(text.size(), most));
  return text;
}

} // namespace ovnitrace
