// SPDX-License-Identifier: BSD-2-Clause
// Any bytes as datagrams: the parser with each piece as it is, then a session with its records
// under a good header.
// Covers: user/net/datagram.cpp user/net/udp_session.cpp
#include "tests/fuzz/require.h"
#include "tests/unit/support/datagram_bytes.h"
#include "tests/unit/support/memory_sink.h"
#include "user/net/udp_session.h"

#include <algorithm>
#include <cstring>

/// Pieces: one byte, how many records follow; one, how far the number goes on (signed).
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace ovnitrace;
  test::MemoryStore store;
  UdpSession session("from", store.maker());
  uint32_t number = 0;
  while (size >= 2) {
    const uint32_t count = std::min<uint32_t>(data[0] % (kMostRecords + 1),
                                              uint32_t((size - 2) / sizeof(ftrace_record)));
    const char *why = nullptr;
    if (const auto parsed = parse_datagram({reinterpret_cast<const char *>(data), size}, why))
      require(parsed->count <= kMostRecords && test::bytes_of(*parsed).size() == size);
    Datagram datagram{.number = number += uint32_t(int8_t(data[1])), .count = count, .records = {}};
    std::memcpy(datagram.records.data(), data + 2, count * sizeof(ftrace_record));
    data += 2 + count * sizeof(ftrace_record);
    size -= 2 + count * sizeof(ftrace_record);
    const auto back = parse_datagram(test::bytes_of(datagram), why);
    require(bool(back) == (datagram.number != 0));
    if (back)
      session.take(*back);
  }
  session.flush();
  for (const auto &[name, trace] : store.traces)
    for (const auto &[key, file] : trace.files)
      require(file.size() % sizeof(ftrace_record) == 0);
  return 0;
}
