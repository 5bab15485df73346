// SPDX-License-Identifier: BSD-2-Clause
// Walks the stacks that the kernel side could not, and makes the rules with which it can.
#pragma once

#include "user/chunk/inheriting_mutex.h"
#include "user/stacks/code_files.h"
#include "user/stacks/mappings.h"
#include "user/stacks/unwind_table.h"

#include <ovnitrace/capture.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ovnitrace {

/// A stack that is to be walked.
struct UnfinishedStack {
  uint32_t number = 0;                        ///< of the stack, for whoever asks
  stack_copy head = {};                       ///< all but its memory
  std::vector<uint8_t> memory;                ///< of the program, from `start` on
  uint64_t start = 0;                         ///< address
  std::shared_ptr<const MappedCode> mappings; ///< of the process
  uint64_t time = 0;                          ///< ns: when it was taken
  uint32_t epoch = 0;                         ///< Mappings::replacements() then
};

/// Walks stacks on a thread of its own. Files are read in a confined child process. A file over
/// which that child dies ends the walks of the process that has mapped it.
class Unwinder {
public:
  /// Takes the addresses of a stack with their STACK_* marks. Called on the unwinder's thread.
  using Take = std::function<void(uint32_t number, const std::vector<__u64> &addresses)>;

  /// `files` outlives it.
  Unwinder(UnwindTable table, CodeFiles &files, Take take)
      : take_(std::move(take)), files_(files), table_(std::move(table)) {}
  ~Unwinder();

  /// Starts its thread. To be called with the privileges that its priority needs: if it had no CPU
  /// while it forks, page faults of the reader would have to wait for it.
  void start();
  /// Adds a stack, or returns false if too many are waiting.
  bool add(UnfinishedStack &&stack);
  /// Removes the rules of an image from address `start` to `end`, where it has mapped other code.
  /// Rules from stacks of an earlier epoch are not used any more.
  void forget(uint64_t image, uint32_t epoch, uint64_t start, uint64_t end);
  /// Waits until all stacks are walked that were added before.
  void finish();

private:
  using Rules = std::vector<std::pair<uint64_t, uint64_t>>; ///< address, rule
  static constexpr size_t kMostWaiting = 1024;

  void run();
  void walk(const std::vector<UnfinishedStack> &stacks);
  void publish(const UnfinishedStack &stack, const Rules &rules);

  const Take take_;
  CodeFiles &files_;
  InheritingMutex lock_; ///< for all that follows, but for `refused_`
  UnwindTable table_;
  std::condition_variable changed_;
  std::deque<UnfinishedStack> waiting_;
  std::unordered_map<uint64_t, uint32_t> epochs_; ///< by image that was forgotten: the present one
  uint64_t added_ = 0, walked_ = 0;               ///< stacks
  bool ends_ = false;
  std::set<uint64_t> refused_; ///< images over whose files a child died
  std::thread thread_;
};

} // namespace ovnitrace
