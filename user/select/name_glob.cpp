// SPDX-License-Identifier: BSD-2-Clause
#include "user/select/name_glob.h"

#include "emulator/base/error.h"

namespace ovnitrace {

namespace {

constexpr unsigned kLongestName = 15; // the kernel's

} // namespace

name_glob make_name_glob(const std::string &option, const std::string &pattern) {
  name_glob glob = {};
  unsigned state = 0;
  for (const char c : pattern) {
    if (c == '*') {
      glob.loops |= 1ull << state;
      continue;
    }
    if (state == kLongestName)
      throw UsageError("{} '{}': the kernel keeps {} characters of a thread's name; write '{}*'",
                       option, pattern, kLongestName, pattern.substr(0, kLongestName - 1));
    const uint64_t bit = 1ull << state++;
    if (c == '?')
      for (unsigned any = 1; any < 256; any++)
        glob.advance[any] |= bit;
    else
      glob.advance[uint8_t(c)] |= bit;
  }
  if (pattern.empty())
    throw UsageError(option + " needs a name, such as 'worker*'");
  glob.accept = 1ull << state;
  return glob;
}

} // namespace ovnitrace
