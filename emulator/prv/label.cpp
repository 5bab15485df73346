// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/label.h"

#include "emulator/base/printable.h"

namespace ovnitrace {

std::string one_line_label(std::string_view text, std::string_view fallback) {
  std::string label = printable_line(text);
  size_t begin = label.find_first_not_of(' ');
  if (begin == std::string::npos)
    return std::string(fallback);
  return label.substr(begin, label.find_last_not_of(' ') + 1 - begin);
}

} // namespace ovnitrace
