// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/answer.h"

#include "emulator/base/short_line.h"

namespace ovnitrace {

std::string answer_text(const Answer &answer, size_t columns) {
  std::string text;
  for (const std::string &line : {answer.sentences, answer.advice})
    if (!line.empty())
      text += wrapped(line, columns) + '\n';
  return text.empty() ? text : text + '\n';
}

} // namespace ovnitrace
