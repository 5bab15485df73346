// SPDX-License-Identifier: BSD-2-Clause
// Any bytes from a sender's TCP connection, cut anywhere: before and after it said who it is.
// Covers: user/net/tcp_session.cpp
#include "tests/fuzz/require.h"
#include "tests/unit/support/memory_sink.h"
#include "user/net/tcp_session.h"

namespace {} // namespace

/// The first byte: bit 0, whether a good introduction goes before; the rest, how the bytes are cut.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace ovnitrace;
  if (size < 1)
    return 0;
  test::MemoryStore store;
  TcpSession session(store.maker());
  if (data[0] & 1)
    session.receive(write_message(MessageType::identify, write_identify("name")));
  const size_t step = 1 + (data[0] >> 1);
  const std::string_view bytes(reinterpret_cast<const char *>(data + 1), size - 1);
  for (size_t at = 0; at < bytes.size(); at += step)
    session.receive(bytes.substr(at, step));
  session.disconnect();
  require(session.ended());
  require(store.traces.size() <= 1);
  for (const auto &[name, trace] : store.traces) {
    require(safe_name(name) == name);
    for (const auto &[key, file] : trace.files)
      require(key.second != Codec::none || file.size() % 16 == 0);
  }
  return 0;
}
