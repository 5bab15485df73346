// SPDX-License-Identifier: BSD-2-Clause
#include "tests/e2e/support/lossy_relay.h"

#include <ovnitrace/ftrace_codes.h>
#include <ovnitrace/ftrace_record.h>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

namespace ovnitrace::test {

namespace {

constexpr uint16_t kEndKind = 3; // docs/network.md

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool tells_end(const std::string &datagram) {
  ftrace_record first;
  if (datagram.size() < 24 + sizeof first)
    return false;
  memcpy(&first, datagram.data() + 24, sizeof first);
  return first.code == FTrace_EXT_session && first.par1 == kEndKind;
}

} // namespace

LossyRelay::LossyRelay(const std::string &collector)
    : in_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)),
      out_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)), stop_(eventfd(0, EFD_CLOEXEC)) {
  const sockaddr_in to = loopback(uint16_t(std::stoi(collector.substr(collector.rfind(':') + 1))));
  sockaddr_in here = loopback(0);
  socklen_t size = sizeof here;
  const int buffer = 32 << 20; // all that a test sends
  setsockopt(in_, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
  if (bind(in_, reinterpret_cast<const sockaddr *>(&here), size) != 0 ||
      getsockname(in_, reinterpret_cast<sockaddr *>(&here), &size) != 0 ||
      connect(out_, reinterpret_cast<const sockaddr *>(&to), sizeof to) != 0)
    throw std::runtime_error("cannot relay");
  url_ = "udp://127.0.0.1:" + std::to_string(ntohs(here.sin_port));
  thread_ = std::thread([this] { run(); });
}

LossyRelay::~LossyRelay() {
  stop();
  for (int fd : {in_, out_, stop_})
    close(fd);
}

void LossyRelay::stop() {
  if (!thread_.joinable())
    return;
  eventfd_write(stop_, 1);
  thread_.join();
}

void LossyRelay::run() {
  std::mt19937 random(4);
  std::vector<std::pair<int, std::string>> held; // for how many more
  const auto pass = [this](const std::string &bytes) {
    (void)!send(out_, bytes.data(), bytes.size(), 0);
  };
  for (;;) {
    pollfd wanted[] = {{in_, POLLIN, 0}, {stop_, POLLIN, 0}};
    poll(wanted, 2, -1);
    if (!wanted[0].revents && wanted[1].revents)
      return; // and all that came was passed on
    std::string bytes(2048, '\0');
    const ssize_t got = recv(in_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0)
      continue;
    bytes.resize(size_t(got));
    const bool end = tells_end(bytes);
    const unsigned fate = end ? 99 : random() % 100;
    if (fate < 5) {
      dropped_++;
    } else if (fate < 10) {
      held.emplace_back(1 + random() % 10, bytes);
    } else {
      pass(bytes);
      if (fate < 15) {
        pass(bytes);
        repeated_++;
      }
    }
    for (size_t n = 0; n < held.size();)
      if (end || held[n].first-- == 0) {
        pass(held[n].second);
        held.erase(held.begin() + long(n));
      } else {
        n++;
      }
  }
}

} // namespace ovnitrace::test
