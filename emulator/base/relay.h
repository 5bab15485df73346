// SPDX-License-Identifier: BSD-2-Clause
// Passes blocks from one thread, which fills them, to others, which finish them in order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace ovnitrace {

/// A ring of blocks. The owner fills the current block and passes it on. The relay's threads work
/// on blocks, several at a time if there are several threads, and put them away in the order in
/// which they were passed. An exception in a thread ends the relay: nothing more is put, and each
/// later call of the owner throws it.
template <class Block> class Relay {
public:
  using Step = std::function<void(Block &)>;

  /// `work` (may be empty) and `put` are called by `threads` threads: `work` at any time, `put` for
  /// one block after the other. `blocks` (at least 2) limits the blocks on their way, with the
  /// current one. Without threads, pass() calls both, and one block suffices. Throws
  /// std::system_error if a thread cannot start.
  Relay(std::vector<Block> blocks, uint32_t threads, Step work, Step put)
      : blocks_(std::move(blocks)), work_(std::move(work)), put_(std::move(put)) {
    try {
      for (uint32_t n = 0; n < threads; n++)
        threads_.emplace_back([this] { run(); });
    } catch (...) {
      stop(); // those that did start
      throw;
    }
  }
  /// Finishes what was passed, unless something was thrown.
  ~Relay() { stop(); }

  /// Returns the block to fill: there is always one.
  Block &current() { return *current_; }

  /// Passes the current block on and waits for a free one.
  void pass() {
    if (threads_.empty()) {
      if (work_)
        work_(current());
      return put_(current());
    }
    std::unique_lock lock(mutex_);
    passed_++;
    changed_.notify_all();
    changed_.wait(lock, [this] { return passed_ - done_ < blocks_.size() || error_; });
    current_ = &blocks_[passed_ % blocks_.size()];
    if (!error_)
      return;
    lock.unlock();
    finish(); // joins all threads first, as they may still use any block
  }

  /// Waits until everything is put away. Nothing may be passed afterwards.
  void finish() {
    stop();
    if (error_)
      std::rethrow_exception(error_);
  }

private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return taken_ != passed_ || stopping_ || error_; });
      if (error_ || taken_ == passed_)
        return;
      const uint64_t number = taken_++;
      Block &block = blocks_[number % blocks_.size()];
      if (work_)
        unlocked(lock, work_, block);
      changed_.wait(lock, [&] { return done_ == number || error_; });
      if (!error_)
        unlocked(lock, put_, block);
      done_++;
      changed_.notify_all();
    }
  }

  void unlocked(std::unique_lock<std::mutex> &lock, const Step &step, Block &block) {
    std::exception_ptr error;
    lock.unlock();
    try {
      step(block);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error && !error_)
      error_ = error;
  }

  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    for (std::thread &thread : threads_)
      if (thread.joinable())
        thread.join();
  }

  std::vector<Block> blocks_;
  Block *current_ = blocks_.data();
  const Step work_, put_;
  std::mutex mutex_; // guards what follows
  std::condition_variable changed_;
  uint64_t passed_ = 0; ///< number of blocks passed; only the owner changes it
  uint64_t taken_ = 0;  ///< of them: given to a thread
  uint64_t done_ = 0;   ///< of them: put away
  bool stopping_ = false;
  std::exception_ptr error_; ///< why the relay ended
  std::vector<std::thread> threads_;
};

} // namespace ovnitrace
