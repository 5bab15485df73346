// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/answer.h"

#include "emulator/base/short_line.h"

#include <algorithm>

namespace ovnitrace {

namespace {

std::string wrapped(const std::string &line, size_t columns) {
  std::string text;
  size_t used = 0;
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    const std::string word = line.substr(at, end - at);
    const size_t wide = columns_of(word);
    const bool fits = !used || used + 1 + wide <= columns;
    text += used ? (fits ? " " : "\n") : "";
    used = fits && used ? used + 1 + wide : wide;
    text += word;
    at = end + 1;
  }
  return text + '\n';
}

} // namespace

std::string answer_text(const Answer &answer, size_t columns) {
  std::string text;
  for (const std::string &line : {answer.sentences, answer.advice})
    if (!line.empty())
      text += wrapped(line, columns);
  return text.empty() ? text : text + '\n';
}

} // namespace ovnitrace
