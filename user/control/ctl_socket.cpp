// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/ctl_socket.h"

#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "emulator/base/printable.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace ovnitrace::control {

namespace {

constexpr const char *kName = "control.sock";
constexpr size_t kMostCommand = 256; // a mark with its text
constexpr int kPatience = 200;       // ms: of a caller that says nothing, the capture goes on

struct Address {
  sockaddr_un un = {};
  socklen_t size = 0;
};

/// Returns an address that uses the directory's descriptor: a path may be longer than an address.
Address in_directory(int directory) {
  Address address;
  address.un.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", directory, kName);
  path.copy(address.un.sun_path, sizeof(address.un.sun_path) - 1);
  address.size = sizeof(address.un);
  return address;
}

/// Returns an address that is in no file system, so it is gone when the capture ends.
Address of_process(const std::string &pid) {
  Address address;
  address.un.sun_family = AF_UNIX;
  const std::string name = "ovnitrace-control-" + pid;
  name.copy(address.un.sun_path + 1, sizeof(address.un.sun_path) - 2);
  address.size = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

UniqueFd new_socket() {
  return UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

const sockaddr *of(const Address &address) {
  return reinterpret_cast<const sockaddr *>(&address.un);
}

bool wait_for(int fd, short what, int ms) {
  pollfd file = {fd, what, 0};
  return poll(&file, 1, ms) > 0;
}

/// Reads up to `most` bytes, or up to `end`. Sets `in_time` to false if nothing came in `patience`
/// ms.
std::string read_all(int fd, size_t most, int patience, char end, bool &in_time) {
  std::string text;
  while (text.size() < most && (!end || text.find(end) == text.npos) &&
         (in_time = wait_for(fd, POLLIN, patience))) {
    char bytes[512];
    const ssize_t got = read(fd, bytes, sizeof(bytes));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    text.append(bytes, size_t(got));
  }
  return text;
}

/// Returns whether the listener is a capture that we may trust: root's, our own, or of the owner of
/// what was named. Anybody can listen at the number of a process.
bool is_trusted(int fd, uid_t named) {
  ucred who = {};
  socklen_t size = sizeof(who);
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
         (who.uid == 0 || who.uid == geteuid() || (geteuid() == 0 && who.uid == named));
}

std::string why_unreachable(int error, bool is_pid) {
  if (error == EACCES)
    return "only the owner of the capture and root may control it";
  if (error != ENOENT && error != ECONNREFUSED)
    return std::string("the capture cannot be reached: ") + std::strerror(error);
  return is_pid
             ? "no running capture has this PID: it has ended, or give the directory of its trace"
             : "no capture is running there: it has ended";
}

} // namespace

CtlSocket::CtlSocket(const std::string &directory, const std::vector<uint32_t> &pids, uid_t owner)
    : owner_(owner) {
  constexpr int kCallers = 8;
  const auto listen_at = [&](const Address &address, const std::string &what) {
    UniqueFd fd = new_socket();
    // The file gets the socket's mode: one that is changed later could be another by then.
    if (!fd || fchmod(fd.get(), 0600) != 0 || bind(fd.get(), of(address), address.size) != 0 ||
        ::listen(fd.get(), kCallers) != 0)
      log_debug("ovnitrace ctl cannot reach this capture by {}: {}", what, std::strerror(errno));
    else
      fds_.push_back(std::move(fd));
  };
  if (!directory.empty()) {
    directory_ = UniqueFd(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    unlinkat(directory_.get(), kName, 0); // of a capture that was killed
    listen_at(in_directory(directory_.get()), directory);
  }
  for (uint32_t pid : pids)
    listen_at(of_process(std::to_string(pid)), fmt::format("process {}", pid));
}

CtlSocket::~CtlSocket() {
  if (directory_)
    unlinkat(directory_.get(), kName, 0);
}

void CtlSocket::serve(int file, const std::function<std::string(const std::string &)> &answer) {
  UniqueFd caller(accept4(file, nullptr, nullptr, SOCK_CLOEXEC));
  ucred who = {};
  socklen_t size = sizeof(who);
  if (!caller || getsockopt(caller.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
    return;
  std::string text = "error\nonly the owner of the capture and root may control it\n";
  if (who.uid == owner_ || who.uid == 0) {
    bool in_time;
    std::string command = read_all(caller.get(), kMostCommand, kPatience, '\n', in_time);
    command = command.substr(0, command.find('\n'));
    try {
      text = answer(command);
    } catch (const Error &error) { // such as a full disk: the capture goes on
      text = fmt::format("error\n{}\n", printable_line(error.what()));
    }
  }
  if (text.empty())
    waiting_.push_back(std::move(caller));
  else
    send_answer(caller.get(), text);
}

void send_answer(int caller, std::string_view left) {
  while (!left.empty() && wait_for(caller, POLLOUT, kPatience)) {
    const ssize_t sent = send(caller, left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
      break; // nobody reads it any more
    left.remove_prefix(size_t(std::max<ssize_t>(sent, 0)));
  }
}

std::string ask(const std::string &where, const std::string &command, int patience) {
  constexpr size_t kMostAnswer = 16 << 20;
  const bool is_pid = !where.empty() && where.find_first_not_of("0123456789") == where.npos &&
                      access(where.c_str(), F_OK) != 0;
  UniqueFd directory;
  if (!is_pid && !(directory = UniqueFd(open(where.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))))
    throw ovnitrace::Error("ctl {}: {}", where, std::strerror(errno));
  const Address address = is_pid ? of_process(where) : in_directory(directory.get());
  const UniqueFd fd = new_socket();
  if (!fd || connect(fd.get(), of(address), address.size) != 0)
    throw ovnitrace::Error("ctl {}: {}", where, why_unreachable(errno, is_pid));
  struct stat named = {};
  const int found =
      is_pid ? stat(("/proc/" + where).c_str(), &named) : fstat(directory.get(), &named);
  if (!is_trusted(fd.get(), found == 0 ? named.st_uid : 0))
    throw ovnitrace::Error("ctl {}: refused: the process that answers belongs to another user, so "
                           "it is not the capture",
                           where);
  const std::string line = command + "\n";
  // If this fails, the capture has ended, or it has refused us without reading: its answer says so.
  TEMP_FAILURE_RETRY(send(fd.get(), line.data(), line.size(), MSG_NOSIGNAL));
  if (command == "save" || command == "stop")
    patience = -1; // what is written may be large
  bool in_time = false;
  const std::string text = read_all(fd.get(), kMostAnswer, patience, 0, in_time);
  if (text.empty() && !in_time)
    throw ovnitrace::Error(
        "ctl {} {}: no answer in {} s: the capture is busy, perhaps saving; it will still do this",
        where, command, patience / 1000.0);
  const size_t first = text.find('\n');
  const std::string rest = first == text.npos ? "" : text.substr(first + 1);
  if (!text.starts_with("ok\n"))
    throw ovnitrace::Error("ctl {} {}: {}", where, command,
                           rest.empty() ? "the capture has ended"
                                        : printable_line(rest.substr(0, rest.find('\n'))));
  return rest;
}

} // namespace ovnitrace::control
