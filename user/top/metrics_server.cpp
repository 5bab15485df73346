// SPDX-License-Identifier: BSD-2-Clause
#include "user/top/metrics_server.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"

#include <microhttpd.h>
#include <poll.h>

#include <iterator>
#include <string_view>

namespace ovnitrace {

namespace {

constexpr unsigned kMostConnections = 32, kMostOfAnAddress = 8;
constexpr unsigned kIdleSeconds = 10; // then a connection is closed

MHD_Result respond(MHD_Connection *connection, unsigned status, const std::string &text,
                   const char *type) {
  MHD_Response *response = MHD_create_response_from_buffer(
      text.size(), const_cast<char *>(text.data()), MHD_RESPMEM_MUST_COPY);
  if (!response)
    return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  const MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

/// Answers a request. It is called when the headers have come, and again when the request is
/// complete.
MHD_Result answer(void *server, MHD_Connection *connection, const char *path, const char *method,
                  const char *, const char *, size_t *, void **seen) {
  if (method != std::string_view("GET") && method != std::string_view("HEAD"))
    return respond(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n", "text/plain");
  if (!*seen) {
    *seen = connection; // anything but null
    return MHD_YES;
  }
  if (path != std::string_view("/metrics"))
    return respond(connection, MHD_HTTP_NOT_FOUND, "see /metrics\n", "text/plain");
  return respond(connection, MHD_HTTP_OK,
                 static_cast<const MetricsServer *>(server)->metrics().text(),
                 "text/plain; version=0.0.4; charset=utf-8");
}

} // namespace

MetricsServer::MetricsServer(UniqueFd socket)
    : http_(MHD_start_daemon(MHD_USE_EPOLL, 0, nullptr, nullptr, answer, this,
                             MHD_OPTION_LISTEN_SOCKET, socket.get(), MHD_OPTION_CONNECTION_LIMIT,
                             kMostConnections, MHD_OPTION_PER_IP_CONNECTION_LIMIT, kMostOfAnAddress,
                             MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds, MHD_OPTION_END)) {
  if (!http_)
    throw Error("cannot start the HTTP server of --metrics");
  socket.release(); // MHD_stop_daemon() closes it
}

MetricsServer::~MetricsServer() {
  MHD_stop_daemon(http_);
}

bool MetricsServer::wait(uint64_t time, int stop) {
  pollfd files[] = {{stop, POLLIN, 0},
                    {MHD_get_daemon_info(http_, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, POLLIN, 0}};
  for (uint64_t now; (now = monotonic_ns()) < time;) {
    poll(files, std::size(files), int((time - now) / 1'000'000) + 1);
    if (files[0].revents)
      break;
    MHD_run(http_);
  }
  return true;
}

void MetricsServer::take(const std::string &directory, uint64_t from, uint64_t to) {
  NoDiagnostics none; // a part is made anew each time
  metrics_.add(read_top_part(directory, from, to, none));
}

} // namespace ovnitrace
