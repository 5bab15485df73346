// SPDX-License-Identifier: BSD-2-Clause
// Chains without BPF programs, and a process that a test controls.
#pragma once

#include "emulator/base/unique_fd.h"
#include "tests/unit/support/files.h"
#include "user/control/chains.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <new>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ovnitrace::test {

/// Chains that say what the test wants. The process of the tracer shares their memory.
class FakeChains final : public control::Chains {
public:
  struct Hit {
    uint32_t pid, tid;
    uint64_t alarms;
    bool operator==(const Hit &) const = default;
  };

  FakeChains() {
    void *memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      throw std::bad_alloc();
    shared_ = new (memory) Shared;
  }
  ~FakeChains() override { munmap(shared_, sizeof(Shared)); }
  FakeChains(const FakeChains &) = delete;
  FakeChains &operator=(const FakeChains &) = delete;

  control_hit hit(uint32_t pid, uint32_t tid, uint64_t alarms) const override {
    const uint32_t n = shared_->count.load();
    if (n < kMost)
      shared_->hits[n] = {pid, tid, alarms};
    control_hit seen = {};
    seen.pid = tid; // its main thread
    seen.tid = tid;
    if (shared_->only && tid != shared_->only)
      seen.result = CONTROL_NO_THREAD;
    if (alarms && shared_->steps)
      shared_->steps--;
    if (shared_->steps)
      seen.result |= CONTROL_STEPPING;
    if (!alarms && shared_->holds) {
      shared_->holds--;
      seen.result |= CONTROL_HELD;
    }
    shared_->count++;
    return seen;
  }
  std::vector<std::pair<uint32_t, uint32_t>> threads(uint32_t pid) const override {
    std::vector<std::pair<uint32_t, uint32_t>> found;
    for (const std::atomic<uint32_t> &one : shared_->listed)
      if (one && (!pid || one == pid))
        found.emplace_back(one, one);
    return found;
  }
  void stop_for_tracer(bool on) override { shared_->stops = on; }

  bool stops_for_tracer() const { return shared_->stops; }
  /// Lets threads go from instruction to instruction until so many hits.
  void step(uint32_t hits) { shared_->steps = hits; }
  uint32_t steps_left() const { return shared_->steps; }
  /// The next thread that is only looked at has to wait.
  void hold() { shared_->holds = 1; }
  /// No other thread has chains.
  void know_only(uint32_t tid) { shared_->only = tid; }
  /// Two processes that have chains.
  void list(uint32_t one, uint32_t two) {
    shared_->listed[0] = one;
    shared_->listed[1] = two;
  }
  std::vector<Hit> hits() const {
    return {shared_->hits, shared_->hits + std::min<uint32_t>(shared_->count, kMost)};
  }
  size_t hits_of(uint32_t tid) const {
    size_t count = 0;
    for (const Hit &one : hits())
      count += one.tid == tid;
    return count;
  }

private:
  static constexpr uint32_t kMost = 1 << 16;
  struct Shared {
    std::atomic<uint32_t> count = 0, steps = 0, holds = 0, only = 0, listed[2] = {};
    std::atomic<bool> stops = false;
    Hit hits[kMost];
  };
  Shared *shared_;
};

/// A child process. It takes a byte at a time, and answers each with what `act` makes of it.
class ObedientChild {
public:
  explicit ObedientChild(const std::function<char(char)> &act = [](char byte) { return byte; }) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
      throw std::runtime_error("no pipe");
    const UniqueFd reads(in[0]), writes(out[1]);
    input_ = UniqueFd(in[1]);
    output_ = UniqueFd(out[0]);
    pid_ = fork();
    if (pid_ == 0) {
      input_ = UniqueFd();
      setpgid(0, 0); // with a parent in another group, a terminal may stop it
      for (char byte; read(in[0], &byte, 1) == 1;) {
        byte = act(byte);
        (void)!write(out[1], &byte, 1);
      }
      _exit(0);
    }
    EXPECT_EQ(turn('x') != 0, true); // it is in its loop
  }
  ~ObedientChild() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  ObedientChild(const ObedientChild &) = delete;
  ObedientChild &operator=(const ObedientChild &) = delete;

  uint32_t pid() const { return uint32_t(pid_); }
  void tell(char byte) const { EXPECT_EQ(write(input_.get(), &byte, 1), 1); }
  /// Its answer; 0 if it has ended.
  char answer() const {
    char byte = 0;
    return read(output_.get(), &byte, 1) == 1 ? byte : '\0';
  }
  char turn(char byte) const {
    tell(byte);
    return answer();
  }

private:
  pid_t pid_ = -1;
  UniqueFd input_, output_;
};

/// What a line of /proc/PID/status says; empty: nothing.
inline std::string status_of(uint32_t pid, const std::string &key) {
  for (const std::string &line : lines_of("/proc/" + std::to_string(pid) + "/status"))
    if (line.starts_with(key + ":\t"))
      return line.substr(key.size() + 2);
  return "";
}

/// Waits for what another process does. It is there at once, or never.
inline bool eventually(const std::function<bool()> &is_so) {
  for (uint32_t looks = 0; looks < 2'000'000; looks++) {
    if (is_so())
      return true;
    sched_yield();
  }
  return false;
}

} // namespace ovnitrace::test
