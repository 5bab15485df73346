// SPDX-License-Identifier: BSD-2-Clause
// Collects the names that a thread had, in any order of time.
#pragma once

#include "emulator/format/thread_identity.h"
#include "emulator/input/source.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// The names of one thread. A record that renames the thread gives the time exactly. In older
/// traces, a record that only introduces the thread to a chunk can have a name that the thread got
/// shortly afterwards. A thread that renames itself is recorded when it leaves its CPU: the name
/// that a new thread gives itself counts from its birth.
class NameHistory {
public:
  /// Further names of a thread are left out, but for the last one.
  static constexpr size_t kMost = 1000;

  enum class Said : uint8_t { again, renamed, executed };
  /// Notes that a record at `time`, ns, says this name: again, or because the thread got it.
  void add(uint64_t time, const ThreadName &name, Said how);
  /// Adds what another history has.
  void join(const NameHistory &other);
  /// Returns the names that the thread had before its last one. `last`: the last one. `is_new`: the
  /// thread was born during the capture.
  std::vector<EarlierName> before(const ThreadName &last, bool is_new) const;

private:
  struct Record {
    uint64_t time;
    ThreadName name;
    Said how;
    bool renames() const { return how != Said::again; }
  };
  std::vector<Record> all_; ///< by time
};

} // namespace ovnitrace
