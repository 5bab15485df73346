// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/datagram.h"

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

} // namespace ovnitrace
