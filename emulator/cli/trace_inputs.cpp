// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/trace_inputs.h"

#include "emulator/base/error.h"
#include "emulator/base/small_file.h"
#include "emulator/input/trace_dir.h"
#include "emulator/input/trace_info.h"
#include "emulator/ovni/clock_offsets.h"

#include <algorithm>
#include <filesystem>
#include <memory>

namespace ovnitrace {

namespace {

constexpr size_t kMaxTableBytes = 1 << 20;

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
    throw UsageError("--clock-offsets is only for trace directories of ovnitrace; an ovni trace "
                     "has a clock-offsets.txt of its own: " +
                     path);
  std::string host = about_trace(path).host;
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

namespace {

/// Reports what is wrong once, however often the trace is read. A later pass reports what is more
/// than in the passes before it: a read can fail then, too.
class Passes final : public DiagnosticSink {
public:
  explicit Passes(DiagnosticSink &sink) : sink_(sink) {}
  void begin() {
    passes_++;
    found_ = 0;
  }
  void report(const Diagnostic &diagnostic) override {
    found_ += diagnostic.harmless ? 0 : 1 + diagnostic.more;
    if (diagnostic.harmless ? passes_ == 1 : found_ > reported_)
      sink_.report(diagnostic);
    reported_ = std::max(reported_, found_);
  }

private:
  DiagnosticSink &sink_;
  int passes_ = 0;
  uint64_t found_ = 0, reported_ = 0; ///< damage: of this pass, the most of a pass
};

} // namespace

std::string nameable(const std::string &path) {
  const std::string name = path.substr(0, path.find_last_not_of('/') + 1);
  const std::filesystem::path last = std::filesystem::path(name).filename();
  return last == "." || last == ".." ? std::filesystem::canonical(path).string() : name;
}

TraceInfo about_trace(const std::string &path) {
  NoDiagnostics reported_when_opened;
  return is_trace_dir(path) ? read_trace_info(path, reported_when_opened) : TraceInfo();
}

std::function<std::unique_ptr<EventSource>()> reopener(const std::string &path,
                                                       DiagnosticSink &sink, uint64_t from) {
  return reopener(
      [path, from](DiagnosticSink &faults) { return open_trace({{path}}, faults, from); }, sink);
}

std::function<std::unique_ptr<EventSource>()>
reopener(std::function<std::unique_ptr<EventSource>(DiagnosticSink &)> open, DiagnosticSink &sink) {
  const auto passes = std::make_shared<Passes>(sink); // outlives the sources of the function
  return [open = std::move(open), passes] {
    passes->begin();
    return open(*passes);
  };
}

} // namespace ovnitrace
