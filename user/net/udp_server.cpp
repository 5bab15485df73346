// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/udp_server.h"

#include "emulator/base/error.h"

#include <ovnitrace/ftrace_codes.h>

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
constexpr uint64_t kMostWrongReported = 10;

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

uint64_t session_of(const Datagram &datagram) {
  const bool has_session = datagram.count && datagram.records[0].code == FTrace_EXT_session;
  return has_session ? ftrace_record_tsc(&datagram.records[0]) : 0;
}

} // namespace

UdpServer::UdpServer(const Endpoint &endpoint, unsigned most_senders, MakeTraceSink make_sink,
                     Report report)
    : socket_(open_socket(endpoint, "listen on", bind_to)), most_senders_(most_senders),
      make_sink_(std::move(make_sink)), report_(std::move(report)) {}

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
  look(now);
}

void UdpServer::take(const std::string &from, std::string_view bytes, uint64_t now) {
  const char *why = nullptr;
  const std::optional<Datagram> datagram = parse_datagram(bytes, why);
  if (!datagram) {
    for (auto at = senders_.lower_bound({from, 0}); at != senders_.end() && at->first.first == from;
         ++at)
      at->second.session.count_stray();
    return wrong(from, fmt::format("a datagram of {} bytes that is {}", bytes.size(), why));
  }
  const Key key(from, session_of(*datagram));
  Sender *sender = sender_of(key, *datagram, bytes, now);
  if (!sender)
    return;
  sender->last = now;
  try {
    sender->session.take(*datagram);
    if (!sender->announced && sender->session.sink()) {
      sender->announced = true;
      report_(fmt::format("{} sends; written to {}", from, sender->session.sink()->path()));
    }
  } catch (const Error &error) {
    report_(fmt::format("{}: error: {}", from, error.what()));
    incomplete_ = true;
    forget(senders_.find(key));
  }
}

/// Returns the sender of this datagram; null if that sender is not served.
UdpServer::Sender *UdpServer::sender_of(const Key &key, const Datagram &datagram,
                                        std::string_view bytes, uint64_t now) {
  auto at = senders_.find(key);
  const bool has_numbers = key.second != 0;
  if (at != senders_.end() && !has_numbers && datagram.number == 1) {
    Sender &sender = at->second;
    if (sender.first.empty() && !sender.session.begun()) // later ones overtook it
      sender.first = bytes;
    if (sender.first != bytes) {
      end(at);
      at = senders_.end();
    }
  }
  if (at != senders_.end())
    return &at->second;
  // What still comes of a trace that ended; one of a sender without numbers goes on only with its
  // datagram 1.
  if ((has_numbers || datagram.number != 1) &&
      std::find(ended_.begin(), ended_.end(), key) != ended_.end())
    return nullptr;
  if (senders_.size() >= most_senders_ && !make_room(now)) {
    wrong(key.first, fmt::format("{} senders are being served, no more are allowed (--max-senders)",
                                 most_senders_));
    return nullptr;
  }
  at = senders_.try_emplace(key, key.first, make_sink_).first;
  if (datagram.number == 1)
    at->second.first = bytes;
  return &at->second;
}

/// Ends the sender of which nothing came for longest, if that is long. Nobody else would end one
/// that went away without a word.
bool UdpServer::make_room(uint64_t now) {
  const auto oldest =
      std::min_element(senders_.begin(), senders_.end(), [](const auto &one, const auto &other) {
        return one.second.last < other.second.last;
      });
  if (oldest == senders_.end() || now - oldest->second.last < kIdleTime)
    return false;
  report_(fmt::format("{}: error: nothing came of it for {} s, another sender gets its place",
                      oldest->first.first, (now - oldest->second.last) / 1'000'000'000));
  incomplete_ = true;
  end(oldest);
  return true;
}

/// Nothing more is taken of it.
void UdpServer::forget(std::map<Key, Sender>::iterator at) {
  ended_.push_back(at->first);
  if (ended_.size() > kMostEnded)
    ended_.pop_front();
  senders_.erase(at);
}

/// Sessions of which nothing came for a moment.
void UdpServer::look(uint64_t now) {
  for (auto at = senders_.begin(); at != senders_.end();) {
    const auto one = at++;
    UdpSession &session = one->second.session;
    if (now - one->second.last < kSettleTime)
      continue;
    try {
      session.settle();
    } catch (const Error &error) {
      report_(fmt::format("{}: error: {}", one->first.first, error.what()));
      incomplete_ = true;
    }
    if (session.closing())
      end(one);
  }
}

void UdpServer::end(std::map<Key, Sender>::iterator at) {
  UdpSession &session = at->second.session;
  const std::string &from = at->first.first;
  try {
    session.finish();
    const UdpCounts counts = session.counts();
    const std::string what = session.sink() ? session.sink()->path() : from;
    const bool whole = session.whole();
    const std::string figures = fmt::format(
        "{} datagrams, {} lost, {} repeated, {} reordered, {} late, {} wrong; {} events lost, "
        "{} dropped by the sender",
        counts.taken, counts.lost, counts.repeated, counts.reordered, counts.late, counts.wrong,
        counts.events_lost, counts.dropped);
    incomplete_ |= !whole;
    // A datagram that does not fit is perhaps from another sender, but nobody can know.
    const char *verdict =
        !whole ? ": error: not whole"
        : counts.wrong
            ? ": error: nothing is known to be missing, but what is wrong came from its address"
            : " is complete";
    if (session.empty())
      report_(fmt::format("{}: {}no record came, nothing is kept: {}", what,
                          whole ? "" : "error: ", figures));
    else
      report_(fmt::format("{}{}: {}", what, verdict, figures));
  } catch (const Error &error) {
    report_(fmt::format("{}: error: {}", from, error.what()));
    incomplete_ = true;
  }
  forget(at);
}

void UdpServer::wrong(const std::string &from, const std::string &why) {
  incomplete_ = true;
  if (++wrong_ <= kMostWrongReported)
    report_(fmt::format("{}: error: {}{}", from, why,
                        wrong_ == kMostWrongReported ? "; more of this is only counted" : ""));
}

void UdpServer::finish() {
  while (!senders_.empty())
    end(senders_.begin());
  if (wrong_ > kMostWrongReported)
    report_(fmt::format("error: {} datagrams were thrown away", wrong_));
}

} // namespace ovnitrace
