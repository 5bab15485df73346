// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/collector.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "user/launch/call_filter.h"
#include "user/launch/file_limit.h"
#include "user/launch/signals.h"
#include "user/net/collected_trace.h"
#include "user/net/secret.h"
#include "user/net/tcp_server.h"
#include "user/net/udp_server.h"

#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>

namespace ovnitrace {

namespace {

constexpr int kLookMs = 500; ///< between looks at what should have come

/// Returns a descriptor that can be read when a signal asks us to stop. Throws Error.
UniqueFd stop_signals() {
  const sigset_t stops = ending_signals();
  sigprocmask(SIG_BLOCK, &stops, nullptr);
  signal(SIGXFSZ, SIG_IGN); // a file size limit is an error of write(2)
  signal(SIGPIPE, SIG_IGN); // what nobody reads on stderr is not worth the traces
  UniqueFd signals(signalfd(-1, &stops, SFD_CLOEXEC));
  if (!signals)
    throw Error("cannot wait for signals: {}", std::strerror(errno));
  return signals;
}

/// Makes the directory before any sender has captured anything, so that a failure is known early.
void make_directory(const std::string &path) {
  const auto fail = [&](const char *what) {
    return Error("cannot {} the directory {}: {}; choose another with -o", what, path,
                 std::strerror(errno));
  };
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)
    throw fail("make");
  const UniqueFd directory(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory || faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    throw fail("write to");
}

bool is_loopback(const std::string &address) {
  return address.find("//127.") != address.npos || address.find("//[::1]") != address.npos;
}

std::unique_ptr<Server> make_server(const CollectOptions &options, const Endpoint &endpoint,
                                    const std::optional<PresharedKey> &key) {
  const MakeTraceSink make_sink = [&options](const std::string &name) {
    return std::make_unique<CollectedTrace>(options.directory, name, options.trace_bytes);
  };
  const Report say = [&options](const std::string &line) {
    if (!options.quiet || line.find("error: ") != line.npos)
      print_text(line);
  };
  if (endpoint.transport == Endpoint::kUdp)
    return std::make_unique<UdpServer>(endpoint, options.senders, make_sink, say);
  return std::make_unique<TcpServer>(endpoint, key, options.senders, make_sink, say);
}

} // namespace

int collect(const CollectOptions &options) {
  const UniqueFd stop = stop_signals();
  std::optional<PresharedKey> key;
  if (!options.key_file.empty())
    key = read_key(options.key_file);
  make_directory(options.directory);
  deny_unneeded_calls(false);
  std::vector<std::unique_ptr<Server>> servers;
  constexpr size_t kFilesOfSender = 3, // connection, directory, trace.json or chunks
      kIdle = 128;                     // senders that are not served yet or have ended
  raise_file_limit(options.listen.size() * (options.senders + kIdle) * kFilesOfSender);
  for (const Endpoint &endpoint : options.listen) {
    servers.push_back(make_server(options, endpoint, key));
    const std::string address = servers.back()->address();
    print_text("listening on " + address);
    if ((!key || endpoint.transport == Endpoint::kUdp) && !is_loopback(address))
      print_text("warning: anybody who reaches " + address +
                 " can write traces here, and anybody on the way can read them; "
                 "tcp:// with --key FILE prevents both");
  }
  std::vector<pollfd> polls;
  for (;;) {
    polls.assign(1, {stop.get(), POLLIN, 0});
    std::vector<size_t> begins;
    for (const auto &server : servers) {
      begins.push_back(polls.size());
      server->add(polls);
    }
    begins.push_back(polls.size());
    if (poll(polls.data(), polls.size(), kLookMs) < 0)
      continue; // EINTR; or no memory for a moment
    if (polls[0].revents)
      break;
    for (size_t n = 0; n < servers.size(); n++)
      servers[n]->handle({polls.data() + begins[n], begins[n + 1] - begins[n]}, monotonic_ns());
  }
  for (const auto &server : servers)
    server->finish();
  const bool incomplete = std::any_of(servers.begin(), servers.end(),
                                      [](const auto &server) { return server->incomplete(); });
  return incomplete ? kExitIncomplete : 0;
}

} // namespace ovnitrace
