// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/udp_server.h"

#include "emulator/base/error.h"
#include "emulator/base/human.h"

#include <fmt/core.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace ovnitrace {

namespace {

constexpr uint64_t kSettleTime =
    1'000'000'000; ///< ns without a datagram: what is missing will not come
constexpr uint64_t kIdleTime =
    60'000'000'000;                     ///< ns without a datagram: another may have its place
constexpr int kReceiveBuffer = 8 << 20; ///< bytes that wait in the kernel while we write
constexpr unsigned kMostAtOnce = 4096;  ///< datagrams before others have their turn
constexpr size_t kMostEnded = 256;

UniqueFd bind_to(const addrinfo &address) {
  UniqueFd fd(socket(address.ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd && bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0)
    return UniqueFd();
  // As much as the system allows, or, with the capability, as much as we want.
  if (fd &&
      setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof kReceiveBuffer) != 0)
    setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof kReceiveBuffer);
  return fd;
}

} // namespace

UdpServer::UdpServer(const Endpoint &endpoint, unsigned most_senders, MakeTraceSink make_sink,
                     Report report)
    : Server(open_socket(endpoint, "listen on", bind_to), most_senders, std::move(make_sink),
             std::move(report)) {}

void UdpServer::handle(std::span<const pollfd> polls, uint64_t now) {
  char bytes[kMostDatagram + 1]; // one more, to see what is too long
  for (unsigned n = 0; polls[0].revents && n < kMostAtOnce; n++) {
    sockaddr_storage address = {};
    socklen_t size = sizeof address;
    const ssize_t got = recvfrom(socket_.get(), bytes, sizeof bytes, 0,
                                 reinterpret_cast<sockaddr *>(&address), &size);
    if (got < 0 && errno != EINTR)
      break;
    if (got >= 0)
      take(address_text(reinterpret_cast<const sockaddr *>(&address), size), {bytes, size_t(got)},
           now);
  }
  for (auto at = senders_.begin(); at != senders_.end();) {
    const auto one = at++;
    if (now - one->second.last < kSettleTime)
      continue;
    try {
      one->second.session.flush();
      announce(one);
    } catch (const Error &error) {
      end(one, error.what());
    }
  }
}

void UdpServer::take(const std::string &from, std::string_view bytes, uint64_t now) {
  const char *why = nullptr;
  const std::optional<Datagram> datagram = parse_datagram(bytes, why);
  if (!datagram) // it belongs to no trace
    return report_some(from, fmt::format("a datagram of {} bytes that is {}", bytes.size(), why));
  const auto at = sender_of(from, datagram->number == 1, bytes, now);
  if (at == senders_.end())
    return;
  at->second.last = now;
  try {
    at->second.session.take(*datagram);
    announce(at);
  } catch (const Error &error) {
    end(at, error.what());
  }
}

/// Reports where the trace of a sender is, once it has records.
void UdpServer::announce(Senders::iterator at) {
  const TraceSink *const sink = at->second.session.sink();
  if (sink && !std::exchange(at->second.announced, true))
    report_(fmt::format("{} sends; written to {}", at->first, sink->path()));
}

/// Returns the sender of this datagram; end() if that sender is not served. `begins`: the datagram
/// has number 1.
UdpServer::Senders::iterator UdpServer::sender_of(const std::string &from, bool begins,
                                                  std::string_view bytes, uint64_t now) {
  auto at = senders_.find(from);
  if (at != senders_.end() && begins && at->second.first != bytes && at->second.session.begun()) {
    end(at);
    at = senders_.end();
  }
  if (at == senders_.end()) {
    // What still comes of a trace that ended is not another one.
    if (!begins && std::find(ended_.begin(), ended_.end(), from) != ended_.end())
      return at;
    if (senders_.size() >= most_senders_ && !make_room(now)) {
      incomplete_ = true;
      report_some(from, full_text());
      return at;
    }
    at = senders_.try_emplace(from, from, make_sink_).first;
  }
  if (begins && at->second.first.empty())
    at->second.first = bytes;
  return at;
}

/// Ends the sender of which nothing came for longest, if that is long. Nobody else would end one
/// that went away without a word.
bool UdpServer::make_room(uint64_t now) {
  const auto oldest =
      std::min_element(senders_.begin(), senders_.end(), [](const auto &one, const auto &other) {
        return one.second.last < other.second.last;
      });
  const uint64_t silent = now - oldest->second.last;
  if (silent < kIdleTime)
    return false;
  end(oldest, fmt::format("it sent nothing for {} s, and another sender needs its place",
                          silent / 1'000'000'000));
  return true;
}

/// Takes nothing more of a sender, and reports what came of it. `why`: what is wrong; may be empty.
void UdpServer::end(Senders::iterator at, std::string why) {
  UdpSession &session = at->second.session;
  try {
    if (why.empty())
      session.flush();
  } catch (const Error &error) {
    why = error.what();
  }
  const std::string what = session.sink() ? session.sink()->path() : at->first;
  const std::string counts = fmt::format(
      "{}, {} lost", human_count(session.taken(), "datagram", "datagrams"), session.lost());
  if (why.empty() && session.lost())
    why = "not complete";
  incomplete_ |= !why.empty();
  if (!why.empty())
    report_error(what, why + ": " + counts);
  else
    report_(session.sink() ? what + " is complete: " + counts
                           : what + ": no record came, nothing is kept");
  ended_.push_back(at->first);
  if (ended_.size() > kMostEnded)
    ended_.pop_front();
  senders_.erase(at);
}

void UdpServer::finish() {
  while (!senders_.empty())
    end(senders_.begin());
  report_rest();
}

} // namespace ovnitrace
