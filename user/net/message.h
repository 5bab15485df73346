// SPDX-License-Identifier: BSD-2-Clause
// Makes and parses the messages of a TCP connection between a sender and a collector:
// docs/network.md.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace ovnitrace {

enum class MessageType : uint32_t {
  identify = 1,    ///< sender: the protocol, its version, the name of the trace
  accept,          ///< collector: the directory that it made
  description,     ///< sender: a piece of trace.json
  description_end, ///< sender: that was all of it
  records,         ///< sender: CPU, then what comes next in its file
  zstd_records,    ///< the same, of a file compressed by zstd
  end,             ///< sender: how many bytes of chunks it sent, how many events it had to drop
  done,            ///< collector: so many bytes are written
  refuse,          ///< either: why it ends here
};

struct Message {
  MessageType type;
  std::string_view payload; ///< valid until the next call of the parser
};

inline constexpr size_t kMostPiece = 1 << 20;          ///< bytes of a file in one message
inline constexpr size_t kMostPayload = kMostPiece + 4; ///< with the CPU before it
inline constexpr size_t kLongestText = 300; ///< bytes that our messages quote of the other side
inline constexpr size_t kMostEarlyPayload = 1024; ///< until the sender is accepted

/// Returns the payload of identify.
std::string write_identify(std::string_view name);
/// Returns the name in it, as it was sent. Throws Error if it is no identify of this version.
std::string_view read_identify(std::string_view payload);

/// Returns the bytes of a message; `more` goes on with its payload.
std::string write_message(MessageType type, std::string_view payload, std::string_view more = {});

/// Takes messages out of a stream of bytes. Memory: the part of one message that has come, at most
/// the greatest size of a message.
class MessageParser {
public:
  /// Allows large messages, when the other side is known.
  void allow_large() { most_ = kMostPayload; }

  /// Adds bytes that have come. Take all messages out before adding more.
  void feed(std::string_view bytes);
  /// Returns the next complete message, if there is one. Throws Error at bytes that are not a
  /// message.
  std::optional<Message> next();

private:
  size_t most_ = kMostEarlyPayload;
  std::string bytes_;
  size_t at_ = 0; ///< those before were taken
};

/// Appends a number to a payload, or reads the one at `at`, which must be there. Little-endian.
template <typename Number> void put_number(std::string &to, Number number) {
  to.append(reinterpret_cast<const char *>(&number), sizeof number);
}
template <typename Number> Number get_number(std::string_view from, size_t at) {
  Number number;
  std::memcpy(&number, from.data() + at, sizeof number);
  return number;
}

} // namespace ovnitrace
