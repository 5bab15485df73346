// SPDX-License-Identifier: BSD-2-Clause
// Sends a capture to a collector, over TCP.
#pragma once

#include "emulator/format/chunk_frame.h"
#include "user/chunk/trace_target.h"
#include "user/net/tcp_link.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace ovnitrace {

/// Sends chunks. The collector's files become what ChunkFiles would have written here.
class TcpTarget final : public TraceTarget, private ChunkDestination {
public:
  /// Connects. `level`: of zstd, 0 for plain files. `check`: as TcpLink has it. Throws Error.
  TcpTarget(const Endpoint &collector, const std::optional<PresharedKey> &key,
            const std::string &name, int level, const std::function<void()> &check);

  ChunkDestination &output() override { return *this; }
  void prepare(const Description &description) override;
  void begin() override {}
  void end(const Description &description, uint64_t missing) override;
  void end_by(uint64_t time) noexcept override { link_.end_by(time); }
  void discard() noexcept override;
  std::string place() const override;
  bool may_stall() const override { return true; }

private:
  size_t write(const Chunk &chunk) override;
  void send(MessageType type, std::string_view before, std::string_view bytes);
  void finish() override {}
  std::string error() const override { return error_; }

  TcpLink link_;
  std::optional<FrameCompressor> compressor_;
  uint64_t bytes_ = 0; ///< of chunks, sent
  std::string error_;
};

} // namespace ovnitrace
