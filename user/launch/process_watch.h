// A process that is not our child, watched until it ends.
#pragma once

#include <cstdint>

namespace ovnitrace {

class ProcessWatch {
public:
  /// Throws Error if there is no such process. A later process with the same pid is never taken for it.
  explicit ProcessWatch(uint32_t pid);
  ~ProcessWatch();
  ProcessWatch(const ProcessWatch &) = delete;
  ProcessWatch &operator=(const ProcessWatch &) = delete;

  bool ended() const;

private:
  int fd_;
};

} // namespace ovnitrace
