// SPDX-License-Identifier: BSD-2-Clause
// An ovni trace directory of one thread whose files are the input: up to the first "\n--\n" it is
// stream.json, up to the next clock-offsets.txt, the rest stream.obs.
// Covers: emulator/ovni
#include "emulator/base/error.h"
#include "emulator/ovni/ovni_source.h"
#include "tests/fuzz/require.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace {

class Ignored : public ovnitrace::DiagnosticSink {
public:
  void report(const ovnitrace::Diagnostic &) override {}
};

/// A directory in memory, made once a run.
const std::string &directory() {
  static const std::string path = [] {
    const std::string &name = ovnitrace::memory_directory();
    std::filesystem::create_directories(name + "/loom.n/proc.1/thread.1");
    return name;
  }();
  return path;
}

std::string_view take(std::string_view &input) {
  constexpr std::string_view kSeparator = "\n--\n";
  const size_t end = input.find(kSeparator);
  if (end == input.npos)
    return {};
  const std::string_view part = input.substr(0, end);
  input.remove_prefix(end + kSeparator.size());
  return part;
}

void write(const std::string &name, std::string_view text) {
  std::ofstream(directory() + name, std::ios::binary) << text;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view input(reinterpret_cast<const char *>(data), size);
  write("/loom.n/proc.1/thread.1/stream.json", take(input));
  write("/clock-offsets.txt", take(input));
  write("/loom.n/proc.1/thread.1/stream.obs", input);

  Ignored sink;
  try {
    const auto source = ovnitrace::ovni::open_ovni_trace(directory(), "", sink);
    uint64_t last = 0;
    for (ovnitrace::Event event; source->next(event); last = event.time) {
      if (event.time < last || event.thread >= source->catalog().threads.size())
        abort();
      for (uint32_t i = 0; i < event.payload_size; ++i)
        if (volatile uint8_t byte = event.payload[i]; byte == 0)
          continue;
    }
  } catch (const ovnitrace::Error &) {
  }
  return 0;
}
