// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/message.h"

#include "emulator/base/error.h"

#include <fmt/core.h>

#include <bit>
#include <cstring>

namespace ovnitrace {

static_assert(std::endian::native == std::endian::little, "numbers are sent as they are");

namespace {

Digest digest_of(const Digest &key, uint64_t number, std::string_view message) {
  return hmac(bytes_of(key), {{reinterpret_cast<const char *>(&number), sizeof number}, message});
}

template <typename Number> void put(std::string &to, Number number) {
  to.append(reinterpret_cast<const char *>(&number), sizeof number);
}

template <typename Number> Number get(std::string_view from, size_t at) {
  Number number;
  std::memcpy(&number, from.data() + at, sizeof number);
  return number;
}

} // namespace

void put_u32(std::string &to, uint32_t number) {
  put(to, number);
}
void put_u64(std::string &to, uint64_t number) {
  put(to, number);
}
uint32_t get_u32(std::string_view from, size_t at) {
  return get<uint32_t>(from, at);
}
uint64_t get_u64(std::string_view from, size_t at) {
  return get<uint64_t>(from, at);
}

std::string_view MessageWriter::write(MessageType type, std::string_view payload,
                                      std::string_view more) {
  bytes_.clear();
  put_u32(bytes_, uint32_t(type));
  put_u32(bytes_, uint32_t(payload.size() + more.size()));
  bytes_ += payload;
  bytes_ += more;
  if (key_)
    bytes_ += bytes_of(digest_of(*key_, number_++, bytes_));
  return bytes_;
}

void MessageParser::feed(std::string_view bytes) {
  bytes_.erase(0, at_);
  at_ = 0;
  bytes_ += bytes;
}

std::optional<Message> MessageParser::next() {
  const std::string_view left = std::string_view(bytes_).substr(at_);
  if (left.size() < kMessageHeader)
    return std::nullopt;
  const uint32_t type = get_u32(left, 0), size = get_u32(left, 4);
  if (type < uint32_t(MessageType::greeting) || type > uint32_t(MessageType::refuse))
    throw Error(fmt::format("what came is no message of ovnitrace (type {})", type));
  if (size > most_)
    throw Error(fmt::format("a message claims {} bytes, at most {} are allowed", size, most_));
  const size_t signed_size = kMessageHeader + size,
               whole = signed_size + (key_ ? sizeof(Digest) : 0);
  if (left.size() < whole)
    return std::nullopt;
  if (key_ && !equal(digest_of(*key_, number_++, left.substr(0, signed_size)),
                     left.substr(signed_size, sizeof(Digest))))
    throw Error("a message was changed on its way, repeated, or not made with the key");
  at_ += whole;
  return Message{MessageType(type), left.substr(kMessageHeader, size)};
}

} // namespace ovnitrace
