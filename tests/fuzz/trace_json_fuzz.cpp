// SPDX-License-Identifier: BSD-2-Clause
// Feeds the readers of trace.json with any bytes: what it says of the capture, and its stacks.
// Covers: emulator/input/trace_info.cpp emulator/input/stacks.cpp emulator/base/bounded_json.cpp
#include "emulator/base/error.h"
#include "emulator/input/stacks.h"
#include "emulator/input/trace_info.h"
#include "tests/fuzz/require.h"

#include <fstream>
#include <string>

namespace {

using namespace ovnitrace;

/// A directory in memory, made once a run.
const std::string &directory() {
  static const std::string path = [] {
    const std::string &name = memory_directory();
    return name;
  }();
  return path;
}

bool is_line(const std::string &text) {
  return text.find_first_of(std::string("\0\n\r\x1b", 4)) == text.npos;
}

void check(const StackTable &table) {
  for (uint32_t number = 0; number <= table.size() + 1; number++) {
    require(number - 1 < table.size() || (table.frames(number).empty() && !table.is_cut(number)));
    for (const uint32_t index : table.frames(number)) {
      require(is_line(table.name(index)) && is_line(table.place(index)));
      const StackFrame &frame = table.frame(index);
      require(frame.file == kNone || is_line(table.file(frame.file).path));
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::ofstream(directory() + "/trace.json", std::ios::binary)
      .write(reinterpret_cast<const char *>(data), std::streamsize(size));
  NoDiagnostics sink;
  try {
    const TraceInfo info = read_trace_info(directory(), sink);
    require(is_line(info.host) && is_line(info.ended) && is_line(info.stack_counts.text()));
  } catch (const Error &) { // not a trace, or of a newer version
  }
  check(StackTable::read(directory(), sink));
  return 0;
}
