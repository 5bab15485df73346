// SPDX-License-Identifier: BSD-2-Clause
// Handles data from strangers in a child process that can do no harm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace ovnitrace {

constexpr int kFirstKeptFile = 16; ///< lower descriptors are those of the child itself

/// The limits of one child.
struct ConfinedLimits {
  uint64_t memory = 0;             ///< bytes, in addition to what this process has
  unsigned seconds = 0;            ///< of CPU time
  unsigned patience = 300;         ///< seconds without a word from it: it may wait for a file
  std::span<const int> files = {}; ///< descriptors that stay open, from kFirstKeptFile on
};

/// Numbers and texts that the child writes.
class ConfinedOutput {
public:
  explicit ConfinedOutput(int pipe) : pipe_(pipe) {}
  void number(uint64_t value);
  void text(std::string_view text);
  /// Writes what is buffered. To be called when much is buffered, and at the end of an answer. Ends
  /// the process if nobody reads.
  void flush();

private:
  const int pipe_;
  std::string waiting_;
};

/// Numbers and texts that the parent reads. A compromised child can write anything: after a
/// malformed value, all numbers are 0 and all texts empty.
class ConfinedInput {
public:
  /// A child that writes nothing for `patience` seconds gives a malformed answer.
  explicit ConfinedInput(int pipe, unsigned patience = 300) : pipe_(pipe), patience_(patience) {}
  /// Returns the next number. A number above `most` is malformed.
  uint64_t number(uint64_t most = UINT64_MAX);
  /// Returns the next text. A text of more than `most` bytes is malformed.
  std::string text(size_t most);
  bool good() const { return good_; }

private:
  bool read(char *to, size_t size);

  const int pipe_;
  const unsigned patience_;
  bool good_ = true;
  std::string read_; ///< from at_ on: read and not yet taken
  size_t at_ = 0;
};

/// Answers questions 0 to `count` - 1 in a child process and returns how many were asked. `answer`
/// runs in the child, `take` reads the answer in this process. Any thread may call it.
///
/// The child has no capability except, as root, to read any file. It cannot write to files or
/// become another user, has no open files but those of `limits`, and ends with this process. If a
/// child dies over a question or gives a malformed answer, `failed` is called, and a new child
/// answers the next question. After 4 failures no more questions are asked.
size_t ask_confined(size_t count, const ConfinedLimits &limits,
                    const std::function<void(size_t, ConfinedOutput &)> &answer,
                    const std::function<void(size_t, ConfinedInput &)> &take,
                    const std::function<void(size_t)> &failed);

} // namespace ovnitrace
