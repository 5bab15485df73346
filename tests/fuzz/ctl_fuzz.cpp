// SPDX-License-Identifier: BSD-2-Clause
// Feeds both sides of the socket of `ovnitrace ctl` with any bytes: the capture with a request, the
// caller with an answer. The first byte says how many of the bytes come later than the others.
// Covers: user/control/ctl_socket.cpp
#include "emulator/base/error.h"
#include "tests/fuzz/require.h"
#include "user/control/ctl_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

namespace {

using namespace ovnitrace;

/// A directory in memory, made once a run.
const std::string &directory() {
  static const std::string path = [] {
    const std::string &name = memory_directory();
    std::filesystem::create_directory(name + "/caller");
    return name;
  }();
  return path;
}

sockaddr_un address_in(const std::string &where) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  (where + "/control.sock").copy(address.sun_path, sizeof(address.sun_path) - 1);
  return address;
}

/// In two parts.
void say(int fd, std::string_view bytes, size_t first) {
  for (const std::string_view part : {bytes.substr(0, first), bytes.substr(first)})
    (void)!send(fd, part.data(), part.size(), MSG_NOSIGNAL);
  shutdown(fd, SHUT_WR);
}

/// Sends a request, and returns what the capture answers: the request that it understood.
std::string request(std::string_view bytes, size_t first) {
  static control::CtlSocket capture(directory(), {}, getuid());
  const UniqueFd caller(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_in(directory());
  require(connect(caller.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0);
  say(caller.get(), bytes, first);
  std::string understood;
  capture.serve(capture.files().at(0).get(), [&](const std::string &line) {
    understood = line;
    return "ok\n" + line;
  });
  char answer[1024];
  const ssize_t size = recv(caller.get(), answer, sizeof answer, MSG_DONTWAIT);
  require(size < 3 || std::string_view(answer, size_t(size)) == "ok\n" + understood);
  return understood;
}

/// Answers a caller with the bytes.
void answer(std::string_view bytes, size_t first) {
  static const UniqueFd listener = [] {
    UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_un address = address_in(directory() + "/caller");
    require(bind(fd.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0 &&
            listen(fd.get(), 1) == 0);
    return fd;
  }();
  std::thread capture([&] {
    const UniqueFd caller(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    char command[64];
    require(recv(caller.get(), command, sizeof command, 0) > 0);
    say(caller.get(), bytes, first);
  });
  try {
    const std::string lines = control::ask(directory() + "/caller", "status");
    require("ok\n" + lines == bytes);
  } catch (const Error &error) {
    require(!bytes.starts_with("ok\n"));
    require(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
  capture.join();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0 || size > 4096) // what fits into a socket at once
    return 0;
  const std::string_view bytes(reinterpret_cast<const char *>(data) + 1, size - 1);
  const size_t first = std::min<size_t>(data[0], bytes.size());
  const std::string line = request(bytes, first);
  require(line.find('\n') == line.npos && bytes.starts_with(line));
  answer(bytes, first);
  return 0;
}
