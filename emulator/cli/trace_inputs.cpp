// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/trace_inputs.h"

#include "emulator/base/error.h"
#include "emulator/base/small_file.h"
#include "emulator/input/trace_dir.h"
#include "emulator/ovni/clock_offsets.h"

namespace ovnitrace {

namespace {

constexpr size_t kMaxTableBytes = 1 << 20;

/// What is wrong with trace.json is reported when the trace is opened.
struct Silence final : DiagnosticSink {
  void report(const Diagnostic &) override {}
};

ovni::ClockOffsets read_offsets(const std::string &file) {
  std::string why;
  std::optional<std::string> text = read_small_file(file, kMaxTableBytes, why);
  if (!text)
    throw Error("cannot read the clock offsets " + file + ": " + why);
  std::vector<std::string> problems;
  ovni::ClockOffsets offsets = ovni::parse_clock_offsets(*text, problems);
  if (!problems.empty())
    throw Error("clock offsets " + file + ": " + problems.front());
  return offsets;
}

int64_t offset_of(const std::string &path, const ovni::ClockOffsets &offsets,
                  const std::string &file) {
  if (!is_trace_dir(path))
    throw Error("--clock-offsets is for trace directories of ovnitrace; an ovni trace has its own "
                "clock-offsets.txt in it: " +
                    path,
                kExitUsage);
  Silence silence;
  std::string host = read_trace_info(path, silence).host;
  std::string short_name = host.substr(0, host.find('.'));
  for (const std::string &name : {host, short_name})
    if (auto at = offsets.find(name); at != offsets.end())
      return at->second;
  throw Error("the clock offsets " + file + " lack the host '" + host + "' of " + path);
}

} // namespace

std::vector<TraceInput> trace_inputs(const std::vector<std::string> &paths,
                                     const std::string &offsets_file) {
  ovni::ClockOffsets offsets;
  if (!offsets_file.empty())
    offsets = read_offsets(offsets_file);
  std::vector<TraceInput> inputs;
  for (const std::string &path : paths)
    inputs.push_back({path, offsets_file.empty() ? 0 : offset_of(path, offsets, offsets_file)});
  return inputs;
}

} // namespace ovnitrace
