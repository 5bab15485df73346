// SPDX-License-Identifier: BSD-2-Clause
// What each report opens with: where the time went, and what to try (emulator/why/sentences.h makes
// it).
#pragma once

#include <cstddef>
#include <string>

namespace ovnitrace {

/// Each a line without its end.
struct Answer {
  std::string sentences;   ///< where the time went, and who is to blame; empty: there is no thread
  std::string advice = {}; ///< what to try; empty: the numbers carry nothing
};

/// Returns both in lines of at most `columns`, with an empty line behind.
std::string answer_text(const Answer &answer, size_t columns);

} // namespace ovnitrace
