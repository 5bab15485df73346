// SPDX-License-Identifier: BSD-2-Clause
// What a program with libovnitrace sends.
#pragma once

#include "user/net/datagram.h"

#include <ovnitrace/ftrace_codes.h>

#include <string>

namespace ovnitrace::test {

/// Makes a datagram of `count` numbered events.
inline Datagram datagram_of(uint32_t number, uint32_t count) {
  Datagram datagram{.number = number, .count = count, .records = {}};
  for (uint32_t n = 0; n < count; n++)
    ftrace_record_set(&datagram.records[n], FTrace_EVT_ipoint, uint16_t(n), number, n);
  return datagram;
}

/// Returns the bytes of a datagram as the manual has them.
inline std::string bytes_of(const Datagram &datagram) {
  const uint32_t records = datagram.count * uint32_t(sizeof(ftrace_record));
  const uint32_t numbers[] = {datagram.number, datagram.count, uint32_t(kDatagramHeader) + records};
  std::string bytes("TRACER-V1.0", 12); // with its 0
  bytes.append(reinterpret_cast<const char *>(numbers), sizeof numbers);
  return bytes.append(reinterpret_cast<const char *>(datagram.records.data()), records);
}

} // namespace ovnitrace::test
