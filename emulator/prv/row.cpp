// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/row.h"

#include "emulator/prv/label.h"

namespace ovnitrace {

std::string row_text(const RowNames &names) {
  // The order in which Paraver itself writes them.
  const struct {
    const char *level;
    const std::vector<std::string> &names;
  } levels[] = {
      {"CPU", names.cpus}, {"NODE", names.nodes}, {"THREAD", names.threads}, {"TASK", names.tasks}};

  std::string text;
  for (const auto &level : levels) {
    if (level.names.empty())
      continue;
    // Paraver reads exactly this many lines: a wrong count would eat the next level.
    text +=
        std::string("LEVEL ") + level.level + " SIZE " + std::to_string(level.names.size()) + "\n";
    for (size_t i = 0; i < level.names.size(); i++)
      text +=
          one_line_label(level.names[i], std::string(level.level) + " " + std::to_string(i + 1)) +
          "\n";
    text += "\n";
  }
  return text;
}

} // namespace ovnitrace
