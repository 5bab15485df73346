// SPDX-License-Identifier: BSD-2-Clause
// How a sender and a collector make sure of each other: docs/network.md.
#pragma once

#include "user/net/secret.h"

#include <string>
#include <string_view>

namespace ovnitrace {

/// Of a connection, one for each direction.
struct SessionKeys {
  Digest to_collector, to_sender;
};

/// What one connection proves with. Each side gives a nonce that it never used before, so nothing
/// that was heard on another connection proves anything here, and the key itself is never sent.
class Transcript {
public:
  /// `key` may be empty: nothing is proved then.
  explicit Transcript(std::string key) : key_(std::move(key)) {}

  bool keyed() const { return !key_.empty(); }
  void set(std::string_view greeting, std::string_view nonce, std::string_view name);
  Digest sender_proof() const { return sign("ovnitrace 1: sender", {}); }
  Digest collector_proof(std::string_view directory) const {
    return sign("ovnitrace 1: collector", directory);
  }
  SessionKeys keys() const;

private:
  Digest sign(std::string_view label, std::string_view text) const;
  std::string key_, said_;
};

/// The collector's side.
class CollectorHandshake {
public:
  explicit CollectorHandshake(const std::string &key);
  const std::string &greeting() const { return greeting_; } ///< payload
  /// What the sender's identify says: the name that it gives the trace, sanitized. Throws Error.
  std::string check(std::string_view identify);
  std::string accept(std::string_view directory) const; ///< payload, after check()
  bool keyed() const { return transcript_.keyed(); }
  SessionKeys keys() const { return transcript_.keys(); } ///< after check(), if keyed

private:
  Transcript transcript_;
  std::string greeting_;
};

/// The sender's.
class SenderHandshake {
public:
  explicit SenderHandshake(const std::string &key) : transcript_(key) {}
  /// The payload of identify. Throws Error if this greeting is not to be answered.
  std::string identify(std::string_view greeting, std::string_view name);
  /// The directory of the trace, from the payload of accept. Throws Error if the collector has not
  /// the key.
  std::string check(std::string_view accept) const;
  bool keyed() const { return transcript_.keyed(); }
  SessionKeys keys() const { return transcript_.keys(); }

private:
  Transcript transcript_;
};

/// A name for a directory out of anything: letters, digits and . _ - + only, no leading dot, 1 to
/// 100 of them.
std::string safe_name(std::string_view name);

/// For a terminal: what a stranger said, in plain ASCII without control characters, at most 300
/// bytes.
std::string printable(std::string_view text);

} // namespace ovnitrace
