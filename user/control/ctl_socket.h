// SPDX-License-Identifier: BSD-2-Clause
// Connects `ovnitrace ctl` with a capture.
#pragma once

#include "emulator/base/unique_fd.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace ovnitrace::control {

/// The listening side: a UNIX socket in the trace directory, and one by the number of each traced
/// process. Only for `owner` and root.
class CtlSocket {
public:
  /// `directory` empty: none there. What cannot be made is left out: another capture may have the
  /// number of the same process.
  CtlSocket(const std::string &directory, const std::vector<uint32_t> &pids, uid_t owner);
  ~CtlSocket();

  const std::vector<UniqueFd> &files() const { return fds_; } ///< to be polled
  /// Takes one caller: reads its line, sends what `answer` makes of it. Waits a moment at most. A
  /// caller whose answer is empty waits for send_answer().
  void serve(int file, const std::function<std::string(const std::string &)> &answer);

  /// Takes the callers that wait.
  std::vector<UniqueFd> take_waiting() { return std::move(waiting_); }

private:
  std::vector<UniqueFd> fds_;
  std::vector<UniqueFd> waiting_; ///< callers
  UniqueFd directory_;
  const uid_t owner_;
};

/// Sends an answer to a caller of take_waiting(). Waits a moment at most.
void send_answer(int caller, std::string_view answer);

/// Sends a command to a capture and returns its answer, without the first line, which says whether
/// it was done. `where` is a trace directory or a PID. Throws Error with the answer if the command
/// failed, or if no answer comes in `patience` ms. save and stop take as long as they take.
std::string ask(const std::string &where, const std::string &command, int patience = 10'000);

} // namespace ovnitrace::control
