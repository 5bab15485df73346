// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/run_report.h"

#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/messages.h"
#include "emulator/base/spawn.h"
#include "emulator/base/unique_fd.h"
#include "emulator/cli/progress_bar.h"
#include "emulator/cli/shared_options.h"
#include "emulator/cli/trace_inputs.h"
#include "emulator/cli/warnings.h"
#include "emulator/core/program_threads.h"
#include "emulator/diff/sentence.h"
#include "emulator/input/stacks.h"
#include "emulator/input/trace_dir.h"
#include "emulator/input/trace_info.h"
#include "emulator/why/explainer.h"
#include "emulator/why/sentences.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace ovnitrace {

namespace {

constexpr const char *kFileName = "report.html";

void print_written(const std::string &path, const WriteReportResult &result,
                   std::chrono::duration<double> took) {
  print("{}: {} of {} in {:.1f} MiB; written in {:.1f} s", path,
        human_count(result.events, "event", "events"),
        human_count(result.threads, "thread", "threads"), double(result.bytes) / (1 << 20),
        took.count());
  if (result.path_left_out)
    print("the critical path has too many segments for the page: give a larger --max-size, or a "
          "part of the trace with --from and --to");
  if (result.coarse_threads)
    print("{} are shown in steps of {}, as all detail is more than --max-size",
          human_count(result.coarse_threads, "thread", "threads"), human_duration(result.grain));
}

constexpr size_t kMorePaths = 15; ///< in the menu of the page, beside that of the main thread

/// Returns the path that was asked for, else that of the main thread, and those of other threads.
/// Returns nothing if nobody asked and no thread ran.
std::vector<CriticalPath> paths_of(const ReportArguments &arguments, const TraceInfo &info,
                                   EventSource &source) {
  PathQuery query = arguments.path.query;
  if (!query.tid && arguments.cut.tids.size() == 1)
    query.tid = arguments.cut.tids.front();
  try {
    return critical_paths(source, info, arguments.cut, query, kMorePaths);
  } catch (const Error &) {
    if (arguments.path.wanted)
      throw;
    return {};
  }
}

/// Returns the paths of both runs, each of the thread that the comparison is about.
std::vector<CriticalPath> paths_of(const Against &against, const ReportArguments &arguments,
                                   const TraceInfo &info,
                                   const std::function<std::unique_ptr<EventSource>()> &open) {
  const std::unique_ptr<EventSource> source = open();
  const auto &threads = source->catalog().threads;
  const auto of_a = uint32_t(std::count_if(threads.begin(), threads.end(),
                                           [](const ThreadInfo &one) { return one.host == 0; }));
  std::vector<CriticalPath> paths;
  for (uint32_t thread : {against.runs.a.front().thread, of_a + against.runs.b.front().thread})
    paths.push_back(
        critical_path(*open(), info, arguments.cut, {.tid = {}, .section = {}, .thread = thread}));
  return paths;
}

Answer answer_about(const TraceInfo &info, const ReportArguments &arguments, const Stacks *stacks,
                    const std::function<std::unique_ptr<EventSource>()> &open) {
  const std::unique_ptr<EventSource> source = open();
  const Catalog &catalog = source->catalog();
  const Cut cut = cut_to_program(arguments.cut, info, catalog);
  return answer_of(info, catalog, explain(*source, cut, started_threads(catalog), stacks),
                   arguments.why_command);
}

/// Restores variables that sudo removed and that a browser needs to find the user's session.
void set_session_environment() {
  if (const passwd *user = getpwuid(getuid())) {
    setenv("HOME", user->pw_dir, 1);
    setenv("USER", user->pw_name, 1);
    setenv("LOGNAME", user->pw_name, 1);
  }
  const std::string runtime = fmt::format("/run/user/{}", getuid());
  if (access(runtime.c_str(), W_OK) != 0)
    return;
  setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
  setenv("DBUS_SESSION_BUS_ADDRESS", ("unix:path=" + runtime + "/bus").c_str(), 0);
}

/// Starts the browser of the desktop (xdg-open) and does not wait for it. As root, it starts
/// nothing. A browser that does not start is reported, and is not an error.
void open_browser(const std::string &path) {
  if (geteuid() == 0) {
    print("--open: no browser is started as root; open {} yourself", path);
    return;
  }
  set_session_environment();
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC)); // xdg-open may outlive us
  pid_t child;
  if (const int error = spawn({"xdg-open", std::filesystem::absolute(path)}, own_environment(),
                              {null.get(), null.get(), null.get()}, child))
    print("--open: cannot run xdg-open: {}; open {} yourself", std::strerror(error), path);
}

} // namespace

int run_report(const std::string &trace, const ReportArguments &arguments) {
  const auto start = std::chrono::steady_clock::now();
  Warnings warnings;
  const ProgressBar progress(!arguments.quiet);
  const TraceInfo info = about_trace(trace);
  std::optional<OutputDirectory> directory; // the owner of the trace may have planted a link in it
  std::string path = arguments.output;
  OutputPlace place(path);
  const bool is_directory = is_trace_dir(trace);
  if (path.empty() && is_directory) {
    directory.emplace(trace, OutputDirectory::Link::follow);
    place = directory->file(kFileName);
    path = place.path = nameable(trace) + "/" + kFileName;
  } else if (path.empty()) {
    place = OutputPlace(path = nameable(trace) + ".html");
  }
  if (!directory)
    require_free(path, arguments.force);
  std::optional<Against> against;
  if (!arguments.against.trace.empty())
    against = compare_with(trace, arguments.against,
                           {arguments.path.query.section, arguments.cut.comms}, warnings);
  const auto open = against
                        ? pair_reopener(trace, arguments.against.trace, against->shift, warnings)
                        : reopener(trace, warnings, 0);
  std::vector<CriticalPath> paths =
      against ? paths_of(*against, arguments, info, open) : paths_of(arguments, info, *open());
  std::optional<Stacks> stacks;
  if (!info.stacks.empty())
    stacks.emplace(open()->catalog(), warnings);
  const Answer answer = against ? Answer{sentence(against->comparison, against->runs.names)}
                                : answer_about(info, arguments, stacks ? &*stacks : nullptr, open);
  const WriteReportResult result =
      write_report(trace, info, open,
                   {place, arguments.most_bytes, arguments.cut, paths, answer,
                    stacks ? &*stacks : nullptr, against ? &*against : nullptr});
  warnings.finish();
  if (!arguments.quiet)
    print_written(path, result, std::chrono::steady_clock::now() - start);
  if (arguments.open)
    open_browser(path);
  return warnings.damage() ? kExitFailure : 0;
}

} // namespace ovnitrace
