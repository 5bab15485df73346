// SPDX-License-Identifier: BSD-2-Clause
// Sends a capture to a collector, over UDP.
#pragma once

#include "emulator/base/unique_fd.h"
#include "user/chunk/trace_target.h"
#include "user/net/datagram_packer.h"
#include "user/net/endpoint.h"

#include <cstdint>
#include <string>

namespace ovnitrace {

/// Sends without knowing what arrives: each datagram says what was sent before it, so the
/// collector knows what is missing.
class UdpTarget final : public TraceTarget, private ChunkDestination {
public:
  /// Throws Error.
  UdpTarget(const Endpoint &collector, const std::string &name);

  ChunkDestination &output() override { return *this; }
  void prepare(const Description &description) override { describe(description, 1); }
  void begin() override {}
  void end(const Description &description, uint64_t missing) override;
  void discard() noexcept override;
  std::string place() const override { return endpoint_.text() + " (which reports what came)"; }
  bool may_stall() const override { return true; }

private:
  size_t write(const Chunk &chunk) override;
  void finish() override {}
  std::string error() const override { return error_; }
  void send(const Datagram &datagram);
  void describe(const Description &description, int times);

  const Endpoint endpoint_;
  const UniqueFd socket_;
  DatagramPacker packer_;
  uint64_t last_time_ = 0; ///< ns, of the last record sent
  uint64_t unsent_ = 0;    ///< datagrams
  std::string error_;
};

} // namespace ovnitrace
