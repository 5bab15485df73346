// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/message.h"

#include "emulator/base/error.h"

#include <fmt/core.h>

#include <bit>
#include <cstring>

namespace ovnitrace {

static_assert(std::endian::native == std::endian::little, "numbers are sent as they are");

namespace {

constexpr std::string_view kMagic("ovnitrace-send\r\n", 16);
constexpr uint32_t kVersion = 2;
constexpr size_t kNameAt = kMagic.size() + 4;

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

std::string write_identify(std::string_view name) {
  std::string payload(kMagic);
  put_u32(payload, kVersion);
  return payload.append(name);
}

std::string_view read_identify(std::string_view payload) {
  if (payload.size() < kNameAt || !payload.starts_with(kMagic))
    throw Error("it is no sender of ovnitrace");
  if (const uint32_t version = get_u32(payload, kMagic.size()); version != kVersion)
    throw Error(fmt::format("the sender speaks version {} of the protocol, the collector {}",
                            version, kVersion));
  return payload.substr(kNameAt);
}

std::string_view MessageWriter::write(MessageType type, std::string_view payload,
                                      std::string_view more) {
  bytes_.clear();
  put_u32(bytes_, uint32_t(type));
  put_u32(bytes_, uint32_t(payload.size() + more.size()));
  bytes_ += payload;
  bytes_ += more;
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
  if (type < uint32_t(MessageType::identify) || type > uint32_t(MessageType::refuse))
    throw Error(fmt::format("what came is no message of ovnitrace (type {})", type));
  if (size > most_)
    throw Error(fmt::format("a message claims {} bytes, at most {} are allowed", size, most_));
  const size_t whole = kMessageHeader + size;
  if (left.size() < whole)
    return std::nullopt;
  at_ += whole;
  return Message{MessageType(type), left.substr(kMessageHeader, size)};
}

} // namespace ovnitrace
