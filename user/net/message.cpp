// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/message.h"

#include "emulator/base/error.h"

#include <bit>

namespace ovnitrace {

static_assert(std::endian::native == std::endian::little, "numbers are sent as they are");

namespace {

constexpr std::string_view kMagic("ovnitrace-send\r\n", 16);
constexpr uint32_t kVersion = 2;
constexpr size_t kHeader = 8; // type and size of the payload, u32 each

} // namespace

std::string write_identify(std::string_view name) {
  std::string payload(kMagic);
  put_number(payload, kVersion);
  return payload.append(name);
}

std::string_view read_identify(std::string_view payload) {
  if (payload.size() < kMagic.size() + sizeof kVersion || !payload.starts_with(kMagic))
    throw Error("it is not a sender of ovnitrace");
  if (const auto version = get_number<uint32_t>(payload, kMagic.size()); version != kVersion)
    throw Error("the sender speaks version {} of the protocol, the collector {}", version,
                kVersion);
  return payload.substr(kMagic.size() + sizeof kVersion);
}

std::string write_message(MessageType type, std::string_view payload, std::string_view more) {
  std::string bytes;
  bytes.reserve(kHeader + payload.size() + more.size());
  put_number(bytes, uint32_t(type));
  put_number(bytes, uint32_t(payload.size() + more.size()));
  return bytes.append(payload).append(more);
}

void MessageParser::feed(std::string_view bytes) {
  bytes_.erase(0, at_);
  at_ = 0;
  bytes_ += bytes;
}

std::optional<Message> MessageParser::next() {
  const std::string_view left = std::string_view(bytes_).substr(at_);
  if (left.size() < kHeader)
    return std::nullopt;
  const auto type = get_number<uint32_t>(left, 0), size = get_number<uint32_t>(left, 4);
  if (type < uint32_t(MessageType::identify) || type > uint32_t(MessageType::refuse))
    throw Error("the data is not a message of ovnitrace (type {})", type);
  if (size > most_)
    throw Error("a message claims {} bytes, at most {} are allowed", size, most_);
  if (left.size() < kHeader + size)
    return std::nullopt;
  at_ += kHeader + size;
  return Message{MessageType(type), left.substr(kHeader, size)};
}

} // namespace ovnitrace
