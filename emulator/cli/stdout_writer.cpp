// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/stdout_writer.h"

#include "emulator/base/error.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

namespace ovnitrace {

StdoutWriter::StdoutWriter()
    : buffer_(std::make_unique_for_overwrite<char[]>(kBytes)), at_(buffer_.get()) {
  std::signal(SIGPIPE, SIG_IGN); // EPIPE says the same, without a death
}

void StdoutWriter::write(std::string_view text) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, kMaxReserve);
    char *at = reserve(part.size());
    std::memcpy(at, part.data(), part.size());
    commit(at + part.size());
    text.remove_prefix(part.size());
  }
}

void StdoutWriter::flush() {
  drain();
  if (pager_)
    pager_->finish();
}

void StdoutWriter::drain() {
  if (!pager_)
    pager_.emplace();
  const char *from = buffer_.get();
  while (from != at_ && !gone_) {
    const ssize_t n = ::write(pager_->fd(), from, size_t(at_ - from));
    if (n >= 0)
      from += n;
    else if (errno == EPIPE)
      gone_ = true;
    else if (errno != EINTR)
      throw Error(std::string("cannot write to standard output: ") + strerror(errno));
  }
  at_ = buffer_.get();
}

} // namespace ovnitrace
