// SPDX-License-Identifier: BSD-2-Clause
// Whether a signal was sent to us alone or to our process group.
#pragma once

#include <sys/types.h>

namespace ovnitrace {

/// A process that does nothing but be in our process group, with all signals blocked, and tell
/// which of them it got: the kernel does not say to whom else a signal was sent, and who sent it
/// says little (a script that kills us alone and timeout(1), which kills its whole group, are our
/// parent in the same group both). It is of the user that we are then, so that who may signal us
/// may signal it, and ends when we do, however that is.
class GroupWitness {
public:
  /// Throws Error if there can be no other process.
  GroupWitness();
  ~GroupWitness();
  GroupWitness(const GroupWitness &) = delete;
  GroupWitness &operator=(const GroupWitness &) = delete;

  /// Whether it got `signal` too since it was last asked: it gets one before us, because the kernel
  /// begins with the youngest. For a signal handler; on one thread at a time. False if the witness
  /// is gone.
  bool got(int signal) const;

private:
  int socket_ = -1;
  pid_t pid_ = -1;
};

} // namespace ovnitrace
