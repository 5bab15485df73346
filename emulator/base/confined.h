// SPDX-License-Identifier: BSD-2-Clause
// Work on what strangers made, in a child process that can do no harm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ovnitrace {

/// Of one child.
struct ConfinedLimits {
  uint64_t memory = 0;  ///< bytes, beyond what this process has
  unsigned seconds = 0; ///< of CPU time
};

/// Numbers and texts that the child writes.
class ConfinedOutput {
public:
  explicit ConfinedOutput(int pipe) : pipe_(pipe) {}
  void number(uint64_t value);
  void text(std::string_view text);
  /// Writes what waits: there is more than is good in memory, or the answer is complete. Ends the
  /// process if nobody reads.
  void flush();

private:
  const int pipe_;
  std::string waiting_;
};

/// The same numbers and texts, which the parent reads. A child that was taken over can write
/// anything: after what cannot be, all numbers are 0 and all texts empty.
class ConfinedInput {
public:
  explicit ConfinedInput(int pipe) : pipe_(pipe) {}
  /// At most `most`.
  uint64_t number(uint64_t most = UINT64_MAX);
  /// Of at most `most` bytes.
  std::string text(size_t most);
  bool good() const { return good_; }

private:
  bool read(char *to, size_t size);

  const int pipe_;
  bool good_ = true;
  std::string read_; ///< and not taken yet, from at_ on
  size_t at_ = 0;
};

/// Answers questions 0 to `count` - 1 in a child process. It has no capability but, as root, to
/// read any file; it cannot write to a file or become anybody else, its files are closed, and it
/// ends with this process. `answer` runs there, `take` reads the answer here. Where a child ends
/// over a question, or its answer cannot be right, `failed` is called, and another child goes on
/// with the next question; but after 4 such questions no more are asked. Returns the number of
/// questions that were asked. Any thread may call it.
size_t ask_confined(size_t count, const ConfinedLimits &limits,
                    const std::function<void(size_t, ConfinedOutput &)> &answer,
                    const std::function<void(size_t, ConfinedInput &)> &take,
                    const std::function<void(size_t)> &failed);

} // namespace ovnitrace
