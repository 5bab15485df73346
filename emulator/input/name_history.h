// SPDX-License-Identifier: BSD-2-Clause
// Collects the names that a thread had, in any order of time.
#pragma once

#include "emulator/format/thread_identity.h"
#include "emulator/input/source.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// The names of one thread. A record that renames the thread gives the time exactly. A record that
/// only introduces the thread to a chunk can have a name that the thread gets shortly afterwards:
/// the recorder learns of names before it writes earlier events.
class NameHistory {
public:
  /// Further names of a thread are left out, but for the last one.
  static constexpr size_t kMost = 1000;

  /// Notes that a record at `time`, ns, says this name.
  void add(uint64_t time, const ThreadName &name, bool renames);
  /// Adds what another history has.
  void join(const NameHistory &other);
  /// Returns the names that the thread had before its last one. `last`: the last one.
  std::vector<EarlierName> before(const ThreadName &last) const;

private:
  struct Said {
    uint64_t time;
    ThreadName name;
    bool renames;
  };
  std::vector<Said> all_; ///< by time
};

} // namespace ovnitrace
