// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/open/open_trace.h"

#include "emulator/base/error.h"
#include "emulator/input/merge.h"
#include "emulator/input/trace_dir.h"
#include "emulator/input/trace_info.h"
#include "emulator/ovni/ovni_source.h"
#include "emulator/ovni/stream_dir.h"
#include "emulator/shark/shark_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <utility>

namespace ovnitrace {

namespace {

using Inputs = std::vector<TraceInput>;

bool same_machine_and_time(const HostInfo &a, const HostInfo &b) {
  return !a.boot_id.empty() && a.boot_id == b.boot_id && a.times.first < b.times.last &&
         b.times.first < a.times.last;
}

/// Warns of traces that may both have the same threads. Each input is a host.
void warn_of_same_machine(const Catalog &catalog, const Inputs &inputs, DiagnosticSink &sink) {
  const std::vector<HostInfo> &hosts = catalog.hosts;
  for (size_t n = 0; n < hosts.size(); n++) {
    const auto other =
        std::find_if(hosts.begin(), hosts.begin() + ptrdiff_t(n), [&](const HostInfo &earlier) {
          return same_machine_and_time(earlier, hosts[n]);
        });
    if (other != hosts.begin() + ptrdiff_t(n))
      sink.report({.file = inputs[n].path,
                   .what = "was recorded on the same machine and at the same time as " +
                           inputs[size_t(other - hosts.begin())].path +
                           ": each trace has its own row for a CPU, and a thread that is in both "
                           "counts twice. Record programs together in one capture, or name the "
                           "common directory of the parts of a --rotate capture",
                   .harmless = true});
  }
}

std::unique_ptr<EventSource> open_trace_dirs(const Inputs &inputs, DiagnosticSink &sink,
                                             uint64_t from) {
  std::vector<HostInput> hosts;
  for (const TraceInput &input : inputs)
    hosts.push_back(
        open_trace_dir(input.path, read_trace_info(input.path, sink), input.clock_offset_ns));
  auto trace = std::make_unique<MergedTrace>(std::move(hosts), sink, from);
  warn_of_same_machine(trace->catalog(), inputs, sink);
  return trace;
}

std::unique_ptr<EventSource> open_ovni_traces(const Inputs &inputs, DiagnosticSink &sink,
                                              uint64_t /*from*/) {
  if (inputs.size() > 1)
    throw UsageError("cannot merge " + inputs[0].path + " with " + inputs[1].path +
                     ": put the looms of both ovni traces into one directory, with a "
                     "clock-offsets.txt, and name that");
  return ovni::open_ovni_trace(inputs[0].path, "", sink);
}

/// Warns that a file is only a part of a trace: of one CPU, who ran on the others is not known.
void warn_of_single_cpu(const std::string &path, DiagnosticSink &sink) {
  const std::filesystem::path file(path);
  const std::string directory = file.has_parent_path() ? file.parent_path().string() : ".";
  if (std::filesystem::exists(file.parent_path() / "trace.json") && is_trace_dir(directory))
    sink.report(
        {.file = path,
         .what = "has the events of only one CPU: to read the whole trace, name the directory " +
                 directory,
         .harmless = true});
}

std::unique_ptr<EventSource> open_plain_files(const Inputs &inputs, DiagnosticSink &sink,
                                              uint64_t /*from*/) {
  std::vector<std::string> paths;
  for (const TraceInput &input : inputs) {
    paths.push_back(input.path);
    warn_of_single_cpu(input.path, sink);
  }
  return shark::open_shark_files(paths, sink);
}

/// A kind of input: how to recognize it, and how to open one or several of it as one.
struct InputKind {
  const char *what; ///< "name …", for whoever named something else
  bool (*matches)(const std::string &path);
  std::unique_ptr<EventSource> (*open)(const Inputs &inputs, DiagnosticSink &sink, uint64_t from);
};

/// In the order in which they are tried.
constexpr InputKind kKinds[] = {
    {"the directory that ovnitrace wrote, with the chunk files cpu0000.ftr, …", is_trace_dir,
     open_trace_dirs},
    {"an ovni trace, with loom.*", ovni::is_stream_dir, open_ovni_traces},
    {"an FTrace file of S.Ha.R.K.", shark::is_plain_file, open_plain_files},
};

/// Throws Error for a trace.json: completing names in a shell easily stops at it.
void refuse_description(const std::string &path) {
  const std::filesystem::path file(path);
  const std::string directory = file.has_parent_path() ? file.parent_path().string() : ".";
  if (file.filename() == "trace.json" && is_trace_dir(directory))
    throw Error(path + " only describes a trace: name the directory of the trace, " + directory);
}

const InputKind &kind_of(const std::string &path) {
  refuse_description(path);
  for (const InputKind &kind : kKinds)
    if (kind.matches(path))
      return kind;
  struct stat status;
  if (stat(path.c_str(), &status) != 0 ||
      (S_ISDIR(status.st_mode) && faccessat(AT_FDCWD, path.c_str(), R_OK | X_OK, AT_EACCESS) != 0))
    throw Error("cannot open the trace " + path + ": " + strerror(errno));
  std::string kinds;
  for (const InputKind &kind : kKinds)
    kinds += (&kind == kKinds                 ? ""
              : &kind == std::end(kKinds) - 1 ? ", or "
                                              : ", ") +
             std::string(kind.what);
  throw Error(path + " is no trace: name " + kinds);
}

} // namespace

std::unique_ptr<EventSource> open_trace(const std::vector<TraceInput> &inputs, DiagnosticSink &sink,
                                        uint64_t from) {
  if (inputs.empty())
    throw UsageError("no trace was named");
  const InputKind &kind = kind_of(inputs.front().path);
  for (const TraceInput &input : inputs)
    if (&kind_of(input.path) != &kind)
      throw Error("cannot merge " + inputs.front().path + " with " + input.path +
                  ": they are of different kinds; convert them one by one");
  return kind.open(inputs, sink, from);
}

} // namespace ovnitrace
