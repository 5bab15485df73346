// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/tcp_target.h"

#include "emulator/base/error.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace ovnitrace {

TcpTarget::TcpTarget(const Endpoint &collector, const std::optional<PresharedKey> &key,
                     const std::string &name, int level, const std::function<void()> &check)
    : link_(collector, key, name, check) {
  if (level)
    compressor_.emplace(level);
}

/// Sends bytes of a file in messages of limited size. The payload of each begins with `before`.
void TcpTarget::send(MessageType type, std::string_view before, std::string_view bytes) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kMostPiece)))
    link_.send(type, before, bytes.substr(0, kMostPiece));
}

void TcpTarget::prepare(const Description &description) {
  std::string waiting;
  description([&](std::string_view text) {
    waiting += text;
    if (waiting.size() >= kMostPiece)
      send(MessageType::description, {}, std::exchange(waiting, {}));
  });
  send(MessageType::description, {}, waiting);
  link_.send(MessageType::description_end, {});
}

size_t TcpTarget::write(const Chunk &chunk) {
  if (!error_.empty())
    return chunk.records.size();
  try {
    std::string_view bytes(reinterpret_cast<const char *>(chunk.records.data()),
                           chunk.records.size() * sizeof(ftrace_record));
    if (compressor_) {
      const std::span<const char> frame = frame_to_write(chunk, *compressor_);
      bytes = {frame.data(), frame.size()};
    }
    std::string cpu;
    put_number(cpu, chunk.cpu);
    send(compressor_ ? MessageType::zstd_records : MessageType::records, cpu, bytes);
    bytes_ += bytes.size();
    return 0;
  } catch (const std::exception &error) {
    error_ = error.what();
    return chunk.records.size();
  }
}

void TcpTarget::end(const Description &description, uint64_t missing) {
  if (!error_.empty())
    throw Error(error_);
  prepare(description);
  std::string sent, dropped;
  put_number(sent, bytes_);
  put_number(dropped, missing);
  link_.send(MessageType::end, sent, dropped);
  if (link_.receive(MessageType::done) != sent)
    throw Error("{} has not written all that was sent", link_.collector());
}

void TcpTarget::discard() noexcept {
  try {
    link_.send(MessageType::refuse, "the capture never began");
  } catch (const std::exception &) {
    // it notices by itself
  }
}

std::string TcpTarget::place() const {
  return fmt::format("{} as {}", link_.collector(), link_.directory());
}

} // namespace ovnitrace
