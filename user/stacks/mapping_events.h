// SPDX-License-Identifier: BSD-2-Clause
// Reads what processes map, fork and execute from perf events. They need no BPF program of ours.
#pragma once

#include "emulator/base/unique_fd.h"
#include "user/stacks/mappings.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Opens one buffer for each CPU, in which the kernel reports when any process maps code, forks or
/// calls execve. It costs nothing while no process does one of these.
class MappingEvents {
public:
  /// Starts the reports. Needs CAP_PERFMON. Throws Error.
  explicit MappingEvents(uint32_t cpus);
  ~MappingEvents();
  MappingEvents(const MappingEvents &) = delete;
  MappingEvents &operator=(const MappingEvents &) = delete;

  /// Takes the reports since the last call.
  void read(Mappings &mappings);
  uint64_t lost() const { return lost_; } ///< reports that found no room

private:
  struct Buffer {
    UniqueFd fd;
    void *memory = nullptr;
    std::vector<uint8_t> record; ///< one that does not lie in one piece
  };

  struct Report {
    enum Kind { fork, exec, map } kind;
    uint64_t time; ///< ns
    uint32_t pid, parent = 0;
    uint64_t start = 0, end = 0, offset = 0;
    CodeFile file = {};
  };

  void read(Buffer &buffer);
  void take(const uint8_t *record, size_t bytes);

  std::vector<Buffer> buffers_;
  std::vector<Report> waiting_; ///< until those of other CPUs of the same time are there
  uint64_t lost_ = 0;
  bool misses_ = false; ///< reports may be lost that the mappings do not know of
};

/// Adds what the process has mapped now, from /proc/PID/maps, as if it had always been mapped. Adds
/// nothing if that cannot be read.
void read_mappings(uint32_t pid, Mappings &mappings);
/// Does the same for every process.
void read_all_mappings(Mappings &mappings);

} // namespace ovnitrace
