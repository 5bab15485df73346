// SPDX-License-Identifier: BSD-2-Clause
// Keeps what was reported.
#pragma once

#include "emulator/input/source.h"

#include <algorithm>
#include <vector>

namespace ovnitrace::test {

class CollectingSink : public DiagnosticSink {
public:
  void report(const Diagnostic &diagnostic) override { reported.push_back(diagnostic); }

  /// How many of them have a text in their message.
  size_t count(const std::string &text) const {
    return size_t(
        std::count_if(reported.begin(), reported.end(), [&](const Diagnostic &diagnostic) {
          return diagnostic.what.find(text) != std::string::npos;
        }));
  }

  /// How many are about something missing or doubtful.
  size_t damage() const {
    size_t count = 0;
    for (const Diagnostic &diagnostic : reported)
      count += diagnostic.harmless ? 0 : 1 + diagnostic.more;
    return count;
  }

  std::vector<Diagnostic> reported;
};

} // namespace ovnitrace::test
