// SPDX-License-Identifier: BSD-2-Clause
// Makes a directory for a trace that is not kept.
#pragma once

#include <atomic>
#include <csignal>
#include <string>
#include <thread>

namespace ovnitrace {

/// A directory that is removed at the end. Only the user who called sudo can look into it.
class ScratchDirectory {
public:
  /// Makes it in TMPDIR, or else in `place`. For a process with one thread, as the destructor.
  /// Throws Error.
  explicit ScratchDirectory(const char *place);
  ~ScratchDirectory();

  const std::string &path() const { return path_; }
  /// From now on, HUP, INT, QUIT and TERM remove it before they end us. Call it before any thread
  /// is created, once we are the user who called sudo.
  void remove_on_signal();

private:
  std::string path_;
  sigset_t awaited_;
  std::atomic<bool> done_ = false;
  std::thread thread_; ///< waits for a signal
};

} // namespace ovnitrace
