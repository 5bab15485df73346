// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/udp_target.h"

#include "emulator/base/error.h"

#include <fmt/core.h>
#include <netdb.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <exception>

namespace ovnitrace {

namespace {

constexpr unsigned kBurst = 32; ///< datagrams, then a pause, lest the collector be overrun
constexpr timespec kPause = {0, 1'000'000};                 // ns
constexpr int kNames = 3, kEnds = 3, kLastDescriptions = 2; // any datagram may be lost

UniqueFd connect_to(const addrinfo &address) {
  UniqueFd fd(socket(address.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (fd && connect(fd.get(), address.ai_addr, address.ai_addrlen) != 0)
    return UniqueFd();
  return fd;
}

/// Never 0, which is no session. Throws Error.
uint64_t random_number() {
  uint64_t number;
  if (getrandom(&number, sizeof number, 0) != ssize_t(sizeof number)) // so few come at once
    throw Error(fmt::format("cannot get random numbers from the kernel: {}", std::strerror(errno)));
  return number | 1;
}

} // namespace

UdpTarget::UdpTarget(const Endpoint &collector, const std::string &name)
    : endpoint_(collector), socket_(open_socket(collector, "send to", connect_to)),
      packer_(random_number(), [this](const Datagram &datagram) { send(datagram); }) {
  for (int n = 0; n < kNames; n++)
    packer_.name(name);
}

/// An error may be that of a datagram before: nobody listened there. It is reported once, so the
/// next try sends this one.
void UdpTarget::send(const Datagram &datagram) {
  constexpr int kTries = 2;
  const std::string bytes = write_datagram(datagram);
  for (int n = 0; n < kTries && ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0;
       n++) {
    unsent_++;
    error_ = fmt::format("{} datagrams at least did not reach {}: {}", unsent_, endpoint_.text(),
                         std::strerror(errno));
  }
  if (datagram.number % kBurst == 0)
    nanosleep(&kPause, nullptr);
}

void UdpTarget::describe(const Description &description, int times) {
  std::string text;
  description([&](std::string_view piece) {
    if (text.size() <= kMostDescription)
      text += piece;
  });
  for (int n = 0; n < times && text.size() <= kMostDescription; n++)
    packer_.describe(text);
}

size_t UdpTarget::write(const Chunk &chunk) {
  packer_.chunk(chunk);
  last_time_ = std::max(last_time_, ftrace_record_tsc(&chunk.records.back()));
  return 0; // the collector knows better
}

void UdpTarget::end(const Description &description, uint64_t missing) {
  describe(description, kLastDescriptions);
  for (int n = 0; n < kEnds; n++)
    packer_.end(last_time_, missing);
  if (!error_.empty())
    throw Error(error_);
}

/// An end without anything before it: the collector keeps nothing of it.
void UdpTarget::discard() noexcept {
  try {
    for (int n = 0; n < kEnds; n++)
      packer_.end(0, 0);
  } catch (const std::exception &) {
    // the collector reports that we never ended
  }
}

} // namespace ovnitrace
