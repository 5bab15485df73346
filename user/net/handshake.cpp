// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/handshake.h"

#include "emulator/base/error.h"
#include "user/net/message.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

namespace ovnitrace {

namespace {

constexpr std::string_view kMagic("ovnitrace-coll\r\n", 16);
constexpr uint32_t kVersion = 1;
constexpr uint32_t kWantsKey = 1; // flag
constexpr size_t kNonceAt = 24, kGreetingSize = kNonceAt + sizeof(Digest);
constexpr size_t kLongestName = 100, kLongestText = 300;

} // namespace

void Transcript::set(std::string_view greeting, std::string_view nonce, std::string_view name) {
  said_.assign(greeting).append(nonce).append(name);
}

/// Labels end with a 0, so that none begins another.
Digest Transcript::sign(std::string_view label, std::string_view text) const {
  const std::string size = std::to_string(said_.size());
  return hmac(key_, {label, {"\0", 1}, size, {"\0", 1}, said_, text});
}

SessionKeys Transcript::keys() const {
  return {sign("ovnitrace 1: to the collector", {}), sign("ovnitrace 1: to the sender", {})};
}

CollectorHandshake::CollectorHandshake(const std::string &key)
    : transcript_(key), greeting_(kMagic) {
  put_u32(greeting_, kVersion);
  put_u32(greeting_, key.empty() ? 0 : kWantsKey);
  greeting_ += bytes_of(random_digest());
}

std::string CollectorHandshake::check(std::string_view identify) {
  constexpr size_t kNameAt = 2 * sizeof(Digest);
  if (identify.size() < kNameAt)
    throw Error("the sender's introduction is too short");
  transcript_.set(greeting_, identify.substr(0, sizeof(Digest)), identify.substr(kNameAt));
  if (keyed() &&
      !equal(transcript_.sender_proof(), identify.substr(sizeof(Digest), sizeof(Digest))))
    throw Error("wrong key: the sender does not have the collector's (--key)");
  return safe_name(identify.substr(kNameAt));
}

std::string CollectorHandshake::accept(std::string_view directory) const {
  std::string payload(bytes_of(keyed() ? transcript_.collector_proof(directory) : Digest{}));
  return payload.append(directory);
}

std::string SenderHandshake::identify(std::string_view greeting, std::string_view name) {
  if (greeting.size() != kGreetingSize || !greeting.starts_with(kMagic))
    throw Error("it is no collector of ovnitrace");
  if (const uint32_t version = get_u32(greeting, kMagic.size()); version != kVersion)
    throw Error(fmt::format("it speaks version {} of the protocol, this ovnitrace version {}",
                            version, kVersion));
  const bool wants_key = get_u32(greeting, kMagic.size() + 4) & kWantsKey;
  if (wants_key != keyed())
    throw Error(wants_key ? "it takes only senders with its key: give it with --key FILE"
                          : "it has no key, so it cannot prove who it is; nothing was sent to it. "
                            "Start it with the "
                            "same --key FILE");
  const Digest nonce = random_digest();
  transcript_.set(greeting, bytes_of(nonce), name);
  std::string payload(bytes_of(nonce));
  return payload.append(bytes_of(keyed() ? transcript_.sender_proof() : Digest{})).append(name);
}

std::string SenderHandshake::check(std::string_view accept) const {
  if (accept.size() < sizeof(Digest))
    throw Error("its answer is too short");
  const std::string_view directory = accept.substr(sizeof(Digest));
  if (keyed() && !equal(transcript_.collector_proof(directory), accept.substr(0, sizeof(Digest))))
    throw Error("wrong key: it does not have ours (--key)");
  return printable(directory);
}

std::string safe_name(std::string_view name) {
  std::string safe(name.substr(0, kLongestName));
  std::replace_if(
      safe.begin(), safe.end(),
      [](char c) {
        return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '.' || c == '_' || c == '-' || c == '+');
      },
      '_');
  if (safe.empty())
    return "trace";
  if (safe[0] == '.' || safe[0] == '-') // hidden, or an option for whoever names it
    safe[0] = '_';
  return safe;
}

std::string printable(std::string_view text) {
  std::string plain(text.substr(0, kLongestText));
  std::replace_if(
      plain.begin(), plain.end(), [](unsigned char c) { return c < ' ' || c >= 0x7f; }, '?');
  return plain;
}

} // namespace ovnitrace
