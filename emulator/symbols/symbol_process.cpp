// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/symbols/symbol_process.h"

#include "emulator/base/clock.h"
#include "emulator/base/messages.h"
#include "emulator/base/printable.h"
#include "emulator/base/unique_fd.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace ovnitrace {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kLongest = 120 * kSecond;
constexpr uint64_t kMostMemory = 4ull << 30; ///< bytes more than we have
constexpr size_t kMostBytes = 64 << 20;      ///< of the answers for one file
constexpr size_t kLongestText = 4096;
constexpr int kMostFailed = 3;

/// Answers as bytes.
class AnswerWriter {
public:
  explicit AnswerWriter(int fd) : fd_(fd) {}
  template <class Number> void number(Number value) {
    bytes_.append(reinterpret_cast<const char *>(&value), sizeof(value));
  }
  void text(std::string_view text) {
    text = text.substr(0, kLongestText);
    number(uint32_t(text.size()));
    bytes_ += text;
  }
  void send() {
    for (std::string_view rest = bytes_; !rest.empty();) {
      const ssize_t sent = write(fd_, rest.data(), rest.size());
      if (sent < 0 && errno != EINTR)
        _exit(1);
      rest.remove_prefix(sent > 0 ? size_t(sent) : 0);
    }
    bytes_.clear();
  }

private:
  int fd_;
  std::string bytes_;
};

/// Reads them; nothing that they say is believed.
class AnswerReader {
public:
  explicit AnswerReader(std::string_view bytes) : rest_(bytes) {}
  template <class Number> bool number(Number &value) {
    if (rest_.size() < sizeof(value))
      return false;
    std::memcpy(&value, rest_.data(), sizeof(value));
    rest_.remove_prefix(sizeof(value));
    return true;
  }
  bool text(std::string &text) {
    uint32_t size = 0;
    if (!number(size) || size > rest_.size())
      return false;
    text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  bool place(SymbolAnswer::Place &place) {
    uint8_t known = 0;
    uint64_t address = 0;
    uint32_t count = 0;
    if (!number(known) || !number(address) || !number(count))
      return false;
    if (known)
      place.address = address;
    for (; count > 0; count--) {
      CodePlace code;
      if (!text(code.function) || !text(code.source) || !number(code.line))
        return false;
      place.places.push_back(std::move(code));
    }
    return true;
  }

private:
  std::string_view rest_;
};

/// Root may open devices, and to open one can do something. Others cannot do that to files of the
/// system, and neither can they do this.
void leave_devices_alone() {
  mount_attr attributes = {};
  attributes.attr_set = MOUNT_ATTR_NODEV;
  if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0) // and from Linux 5.12 on
    syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &attributes, sizeof(attributes));
}

/// A debug server is not asked: nobody expects that to look at a trace needs the network.
void confine(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1);
  unsetenv("DEBUGINFOD_URLS");
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  uint64_t pages = 0;
  if (std::FILE *file = std::fopen("/proc/self/statm", "re"); file) {
    if (std::fscanf(file, "%lu", &pages) != 1)
      pages = 0;
    std::fclose(file);
  }
  const uint64_t machine = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  const rlim_t most = pages * uint64_t(sysconf(_SC_PAGESIZE)) + std::min(kMostMemory, machine / 2);
  const rlimit memory = {most, most};
  setrlimit(RLIMIT_AS, &memory);
#endif
  leave_devices_alone();
}

void answer(const SymbolQuestion &question, AnswerWriter &out) {
  const auto symbols = ElfSymbols::open(question.path, question.build_id);
  const bool other = !symbols || (question.inode && symbols->inode() != question.inode);
  out.text(other ? "" : symbols->build_id());
  if (other)
    return out.send();
  for (const SymbolQuestion::Place &place : question.places) {
    const auto address = place.address ? place.address : symbols->address_of(place.offset);
    const auto codes = address ? symbols->at(*address) : std::vector<CodePlace>();
    out.number(uint8_t(address.has_value()));
    out.number(address.value_or(0));
    out.number(uint32_t(codes.size()));
    for (const CodePlace &code : codes) {
      out.text(code.function);
      out.text(code.source);
      out.number(code.line);
    }
    out.send();
  }
}

/// Appends what comes, until it is too much or takes too long. Whether its end was seen.
bool read_answers(int fd, uint64_t patience, std::string &bytes) {
  const uint64_t start = monotonic_ns();
  for (uint64_t now = start, last = start;;) {
    const uint64_t limit = std::min(last + patience, start + kLongest);
    if (now >= limit || bytes.size() > kMostBytes)
      return false;
    pollfd file = {fd, POLLIN, 0};
    char part[65536];
    const ssize_t got =
        poll(&file, 1, int((limit - now) / 1'000'000) + 1) > 0 ? read(fd, part, sizeof(part)) : -1;
    now = monotonic_ns();
    if (got == 0)
      return true;
    if (got > 0) {
      bytes.append(part, size_t(got));
      last = now;
    }
  }
}

} // namespace

SymbolAnswer SymbolProcess::ask(const SymbolQuestion &question) {
  SymbolAnswer found;
  found.places.resize(question.places.size());
  int ends[2];
  if (failed_ >= kMostFailed || pipe2(ends, O_CLOEXEC) != 0)
    return found;
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    try {
      confine(parent);
      AnswerWriter out(writer.get());
      answer(question, out);
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  writer = UniqueFd();
  if (child < 0)
    return found;
  std::string bytes;
  int status = 0;
  if (!read_answers(reader.get(), patience_, bytes))
    kill(child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  AnswerReader answers(bytes);
  bool more = answers.text(found.build_id);
  for (size_t n = 0; more && n < found.places.size(); n++)
    if (SymbolAnswer::Place known; (more = answers.place(known)))
      found.places[n] = std::move(known);
  if (status != 0) {
    failed_++;
    print("{}: not all of its symbols are known, as reading them failed or takes too long",
          printable_line(question.path));
  }
  return found;
}

} // namespace ovnitrace
