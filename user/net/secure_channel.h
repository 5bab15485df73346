// SPDX-License-Identifier: BSD-2-Clause
// Sends and receives the bytes of a TCP connection: plain, or in TLS 1.3 if both sides have the
// key.
#pragma once

#include "emulator/base/unique_fd.h"
#include "user/net/secret.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace ovnitrace {

/// With a key: TLS 1.3 with that external pre-shared key (RFC 8446, psk_dhe_ke) and the identity
/// kPskIdentity. Each side proves that it has the key, and all that is sent is encrypted. Nothing
/// is sent or taken before that. No call waits. For one thread at a time.
class SecureChannel {
public:
  enum class Side { sender, collector };
  static constexpr char kPskIdentity[] = "ovnitrace";

  /// `fd`: connected and non-blocking. Throws Error.
  SecureChannel(UniqueFd fd, Side side, const std::optional<PresharedKey> &key);
  SecureChannel(SecureChannel &&) noexcept;
  ~SecureChannel();

  /// Returns whether both sides have proved the key, if there is one. If not yet, call it again
  /// when poll(2) finds the events of waits_for(). Throws Error if the other side does not have the
  /// key.
  bool handshake();
  short waits_for() const;

  /// Sends bytes and returns how many it took; 0: none now. The next call gives the rest, which
  /// must be in the same order. Throws Error.
  size_t send(std::string_view bytes);
  /// Receives bytes and returns how many came; nothing: none now; 0: the other side has closed the
  /// connection. Throws Error.
  std::optional<size_t> receive(std::span<char> bytes);
  /// Returns whether receive() has bytes that poll(2) does not see.
  bool has_input() const;

  /// Returns whether what is sent is encrypted, or will be after handshake(). It is false after the
  /// other side turned out to speak no TLS: what is then sent, in words, anybody can read.
  bool encrypts() const { return bool(tls_); }
  int fd() const { return fd_.get(); }
  bool open() const { return bool(fd_); }
  void close() { fd_ = UniqueFd(); }

private:
  struct Tls;
  [[noreturn]] void fail_handshake(int error);

  UniqueFd fd_;
  Side side_;
  std::unique_ptr<Tls> tls_;
  bool first_ = true; ///< nothing came yet
};

} // namespace ovnitrace
