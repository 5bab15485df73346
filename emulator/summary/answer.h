// SPDX-License-Identifier: BSD-2-Clause
// Holds the answer with which each report opens: where the time went, and what to try
// (emulator/why/sentences.h makes it).
#pragma once

#include <cstddef>
#include <string>

namespace ovnitrace {

/// Two texts without line ends.
struct Answer {
  std::string sentences; ///< where the time went, and who is to blame; empty if there is no thread
  std::string advice = {}; ///< what to try; empty if the numbers do not support any advice
};

/// Returns both in lines of at most `columns`, followed by an empty line.
std::string answer_text(const Answer &answer, size_t columns);

} // namespace ovnitrace
