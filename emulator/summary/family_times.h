// SPDX-License-Identifier: BSD-2-Clause
// Measures what further families record: waits for mutexes, interrupts, sections, idle states.
#pragma once

#include "emulator/core/system.h"
#include "emulator/summary/summary.h"

#include <vector>

namespace ovnitrace {

/// Sums up times with both ends seen. Leaves out times during which events were lost or their
/// family was filtered out. Memory grows with threads, CPUs and what is nested.
class FamilyTimes {
public:
  /// Borrows the summary, to which it adds.
  FamilyTimes(Summary &summary, const Catalog &catalog)
      : summary_(summary), lost_waits_(catalog.hosts.size()), lost_sections_(catalog.hosts.size()),
        waits_since_(catalog.threads.size(), kNot), sections_(catalog.threads.size()),
        served_(catalog.cpus.size()), idle_(catalog.cpus.size()) {}

  void event(const Event &event, const System &system);
  /// Forgets what the thread was doing.
  void forget(uint32_t thread);

private:
  static constexpr uint64_t kNot = UINT64_MAX;
  struct Section {
    uint32_t number;
    uint64_t since; ///< ns
  };
  struct Served {
    uint16_t interrupt;
    uint64_t since;  ///< ns
    uint64_t nested; ///< ns of interrupts that interrupted it
  };

  struct Idle {
    uint32_t state = 0;
    uint64_t since = kNot; ///< ns
  };

  /// By host: 1 + the time of the last event that may have hidden an end. What began before then
  /// has no known end.
  using Lost = std::vector<uint64_t>;

  static void lose(Lost &lost, const Event &event, const System &system);
  void end_wait(const Event &event, const System &system);
  void section(const Event &event, uint32_t thread, const System &system);
  void interrupt_start(const Event &event);
  void interrupt_end(const Event &event);
  void idle(const Event &event);
  void stolen(const Event &event);
  void deadline(const Event &event);
  void forget_interrupts(uint32_t host, const System &system);

  Summary &summary_;
  Lost lost_waits_, lost_sections_;
  std::vector<uint64_t> waits_since_;          ///< by thread, ns
  std::vector<std::vector<Section>> sections_; ///< by thread, the innermost last
  std::vector<std::vector<Served>> served_;    ///< by CPU, the innermost last
  std::vector<Idle> idle_;                     ///< by CPU
};

} // namespace ovnitrace
