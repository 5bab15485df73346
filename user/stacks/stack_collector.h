// SPDX-License-Identifier: BSD-2-Clause
// Numbers the stacks of a capture, and keeps what is on each.
#pragma once

#include "user/chunk/inheriting_mutex.h"
#include "user/chunk/sched_transition.h"
#include "user/stacks/mapping_events.h"
#include "user/stacks/mappings.h"
#include "user/stacks/unwinder.h"

#include <ovnitrace/capture.h>

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace ovnitrace {

/// A place in code. That of a frame that calls another is the byte before its return address.
struct CapturedFrame {
  enum Kind : uint8_t {
    kernel,  ///< `address` is the kernel's
    file,    ///< `address` is an offset in the file of number `where`
    process, ///< in no file: `address` is one of the process `where`
    unknown, ///< the same, and nothing that is known was mapped there
    missing, ///< no place: frames may be missing here
  } kind = unknown;
  uint32_t where = 0;
  uint64_t address = 0;
  auto operator<=>(const CapturedFrame &) const = default;
};

/// All that was captured of stacks.
struct CapturedStacks {
  /// The stack of one number - 1. Its frames are indices in `places`: the kernel's first, from the
  /// innermost outward.
  struct Stack {
    size_t first = 0;              ///< in `places`
    uint32_t kernel = 0, user = 0; ///< how many frames
    uint64_t taken = 0;            ///< how often
    bool deep = false;             ///< it had more frames than are kept
    bool gap = false;              ///< frames may be missing between two others
    bool whole = false;            ///< the outermost frame is known to be where the thread started
    bool stuck = false;            ///< the caller of the outermost frame could not be found
  };

  std::vector<CapturedFrame> frames; ///< each place once
  std::vector<uint32_t> places;      ///< indices in `frames`
  std::vector<Stack> stacks;
  std::vector<CodeFile> files;
  std::vector<FirstUse> first_uses; ///< of `files`
};

/// Gives stacks numbers; stacks with the same frames have the same number, in any process. number()
/// is for one thread; any thread may call captured() meanwhile.
class StackCollector {
public:
  using Slot = std::function<const stack_slot *(uint32_t place_and_1)>;
  /// Walks a stack and passes the result to complete() later. Returns false if it cannot.
  using Unwind = std::function<bool(UnfinishedStack &&)>;
  /// Copies that wait for their transition: more than the kernel's ring of them can hold.
  static constexpr size_t kMostCopies = 1024;
  static constexpr size_t kMostStacks = 1 << 18, kMostKnown = 1 << 18, kMostFrames = 1 << 18,
                          kMostPlaces = 3 << 20;

  /// `slot` finds what the kernel has kept (Capture::stack()). `mappings` outlives it. `depth`:
  /// most frames of the program's part, from 1 to CAPTURE_STACK_DEPTH.
  StackCollector(Slot slot, Mappings &mappings, Unwind unwind = nullptr,
                 uint32_t depth = CAPTURE_STACK_DEPTH)
      : slot_(std::move(slot)), unwind_(std::move(unwind)), depth_(depth), mappings_(mappings) {}

  /// Returns the number of the stack that a record of SCHED_KIND_STACK names; 0 if it is not known.
  uint32_t number(const SchedTransition &record);
  /// Learns new mappings. Call it on the thread of number(), before the stacks that were taken
  /// meanwhile.
  void learn(MappingEvents &events);
  /// Keeps a stack that the kernel side could not walk, until number() is asked for it. `message`
  /// is a stack_copy of `bytes`; one that is shorter than it says is dropped.
  void keep(const void *message, size_t bytes);
  /// Sets the program's part of a stack: addresses with STACK_* marks.
  void complete(uint32_t number, const std::vector<__u64> &addresses);
  using Replaced =
      std::function<void(uint64_t image, uint32_t replacements, uint64_t start, uint64_t end)>;
  /// Calls `replaced` for each place where a process has mapped code in the place of other code
  /// since the last call. Stacks from then until the end of this call may have been walked by rules
  /// of the other code.
  void replace(const Replaced &replaced);
  CapturedStacks captured() const;
  /// Counts the stacks that found no room here.
  uint64_t left_out() const;

private:
  /// A stack as the kernel numbers it, of a process.
  struct Key {
    uint32_t kernel, user, life;
    uint32_t epoch; ///< Mappings::replacements()
    bool in_call;   ///< the innermost frame of the program is where it called the kernel
    bool doubtful;  ///< it may have been walked by rules of code that is not there
    bool operator==(const Key &) const = default;
  };
  struct HashKey {
    size_t operator()(const Key &key) const;
  };

  uint32_t collect(const Key &key, uint32_t pid, uint64_t time);
  uint32_t collect_copy(const Key &key, uint32_t pid, uint64_t time);
  void add_kernel(const stack_slot &slot);
  void add_user(std::span<const __u64> addresses, const Key &key, uint32_t pid, uint64_t time,
                CapturedStacks::Stack &stack);
  void add_stack(CapturedStacks::Stack &stack);
  uint32_t frame(const CapturedFrame &frame);

  /// A stack that is being walked elsewhere.
  struct Pending {
    Key key;
    uint32_t pid;
    uint64_t time;
  };
  /// A process that has had unfinished stacks.
  struct Image {
    uint64_t image = 0;
    uint64_t settled = 0; ///< ns: until then, rules may be those of other code
  };

  const Slot slot_;
  const Unwind unwind_;
  const uint32_t depth_;
  Mappings &mappings_;
  mutable InheritingMutex lock_;
  CapturedStacks all_;
  uint64_t left_out_ = 0;
  std::unordered_map<Key, uint32_t, HashKey> known_;
  std::map<CapturedFrame, uint32_t> frame_numbers_;
  std::map<std::pair<uint32_t, std::vector<uint32_t>>, uint32_t>
      stack_numbers_;                             ///< kernel frames, all
  std::vector<uint32_t> stack_;                   ///< the one that is looked at
  std::map<uint32_t, UnfinishedStack> copies_;    ///< by id
  std::unordered_map<uint32_t, Pending> pending_; ///< by number
  std::unordered_map<uint32_t, Image> images_;    ///< by life
};

} // namespace ovnitrace
