// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/number_option.h"

#include "emulator/base/error.h"
#include "emulator/base/to_number.h"
#include "user/chunk/buffer_kind.h"

#include <optional>

namespace ovnitrace {

std::string long_name(const std::string &names) {
  return names.substr(names.find("--"));
}

uint64_t parse_number(const std::string &option, const std::string &text, uint64_t least,
                      uint64_t most) {
  const std::optional<uint64_t> number = to_number<uint64_t>(text);
  if (!number || *number < least || *number > most)
    throw UsageError("{}: give a whole number from {} to {}, not {}", option, least, most,
                     text.empty() ? "nothing" : text);
  return *number;
}

Option add_size(App app, const std::string &names, uint64_t &bytes, const std::string &what) {
  const auto read = [&bytes, option = long_name(names)](const std::string &text) {
    bytes = parse_size(option, text);
    if (bytes == 0)
      throw UsageError(option + ": give a size above 0");
  };
  return app.add_option_function<std::string>(names, read, what).type_name("SIZE");
}

} // namespace ovnitrace
