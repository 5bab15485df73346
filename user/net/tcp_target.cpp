// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/tcp_target.h"

#include "emulator/base/error.h"

#include <fmt/core.h>

#include <exception>

namespace ovnitrace {

TcpTarget::TcpTarget(const Endpoint &collector, const std::optional<PresharedKey> &key,
                     const std::string &name, int level, const std::function<void()> &check)
    : link_(collector, key, name, check) {
  if (level)
    compressor_.emplace(level);
}

void TcpTarget::prepare(const Description &description) {
  std::string waiting;
  const auto send_whole = [&](size_t least) {
    if (waiting.size() < least)
      return;
    for (std::string_view left = waiting; !left.empty();
         left.remove_prefix(std::min(left.size(), kMostPiece)))
      link_.send(MessageType::description, left.substr(0, kMostPiece));
    waiting.clear();
  };
  description([&](std::string_view text) {
    waiting += text;
    send_whole(kMostPiece / 4);
  });
  send_whole(1);
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
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kMostPiece))) {
      const std::string_view piece = bytes.substr(0, kMostPiece);
      link_.send(compressor_ ? MessageType::compressed : MessageType::records, cpu, piece);
      bytes_ += piece.size();
    }
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
    throw Error(fmt::format("{} has not written all that was sent", link_.collector()));
}

void TcpTarget::discard() noexcept {
  try {
    if (link_.open())
      link_.send(MessageType::refuse, "the capture never began");
  } catch (const std::exception &) {
    // it notices by itself
  }
}

std::string TcpTarget::place() const {
  return fmt::format("{} as {}", link_.collector(), link_.directory());
}

} // namespace ovnitrace
