// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace top: shows what the threads do now.
#include "user/cli/commands.h"

#include "emulator/base/error.h"
#include "emulator/base/identity.h"
#include "emulator/base/messages.h"
#include "emulator/cli/pager.h"
#include "emulator/cli/shared_options.h"
#include "emulator/cli/terminal.h"
#include "emulator/cli/time_option.h"
#include "emulator/summary/groups.h"
#include "user/cli/checked_options.h"
#include "user/cli/number_option.h"
#include "user/cli/scratch_directory.h"
#include "user/net/endpoint.h"
#include "user/top/batch.h"
#include "user/top/metrics_server.h"
#include "user/top/screen.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <exception>
#include <memory>
#include <string>

namespace ovnitrace {

namespace {

constexpr uint64_t kShortestInterval = 100'000'000, kLongestInterval = 60'000'000'000; // ns

struct TopArguments {
  RecordArguments record;
  TopView view;
  uint64_t interval = 1'000'000'000; ///< ns
  uint64_t batch = 0;                ///< intervals; 0: on a terminal
  size_t top = 20;
  bool json = false;
  std::string metrics; ///< [ADDRESS:]PORT; empty: none are served
};

uint64_t parse_interval(const std::string &text) {
  uint64_t ns = 0;
  if (!parse_time(text, ns) || ns < kShortestInterval || ns > kLongestInterval)
    throw UsageError("--interval: '" + text + "' is no time from 100ms to 1m");
  return ns;
}

/// Returns the address of "PORT", of this machine alone, or of "ADDRESS:PORT".
Endpoint metrics_address(const std::string &text) {
  const bool has_address = text.find(':') != text.npos;
  try {
    return parse_endpoint("", (has_address ? "tcp://" : "tcp://127.0.0.1:") + text);
  } catch (const Error &) {
    throw UsageError("--metrics: '{}' is no PORT or ADDRESS:PORT; an IPv6 address goes into "
                     "brackets, and a port is at most 65535",
                     text);
  }
}

std::unique_ptr<LiveView> make_view(const TopArguments &arguments) {
  if (!arguments.metrics.empty()) {
    UniqueFd socket = listen_on(metrics_address(arguments.metrics));
    print("metrics for Prometheus are at http://{}/metrics", local_text(socket.get()));
    return std::make_unique<MetricsServer>(std::move(socket));
  }
  if (arguments.batch)
    return std::make_unique<TopBatch>(arguments.view, arguments.batch, arguments.top,
                                      arguments.json);
  return std::make_unique<TopScreen>(arguments.view);
}

int top(TopArguments arguments) {
  if (arguments.json && !arguments.batch)
    throw UsageError("--json needs --batch N");
  if (arguments.batch && !arguments.metrics.empty())
    throw UsageError("give either --batch or --metrics");
  if (!arguments.batch && arguments.metrics.empty() &&
      !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
    throw UsageError("top draws on a terminal, and standard input or output is not a terminal: use "
                     "--batch N, which prints N intervals, or --metrics PORT");
  use_pager(false);
  if (arguments.record.options.pids.empty())
    arguments.record.options.all = true;
  RecordOptions options = checked(arguments.record);
  arguments.view.columns = terminal_columns(STDOUT_FILENO);
  const ScratchDirectory scratch("/dev/shm"); // a part is small, and read at once
  options.directory = scratch.path() + "/trace";
  options.quiet = true;
  options.compress_level = 0;
  std::unique_ptr<LiveView> view = make_view(arguments);
  view->interval = arguments.interval;
  view->scratch = scratch.path();
  options.live = view.get();
  const RecordResult result = record(options);
  const std::exception_ptr failure = view->failure;
  const std::string unfinished = view->unfinished();
  view.reset(); // the terminal is as before
  if (failure)
    std::rethrow_exception(failure);
  if (result.how != kBySignal)
    print("{}{}{}", result.how, unfinished.empty() ? "" : ": ", unfinished);
  if (!result.missing.empty())
    print_text(result.missing);
  return result.exit_status;
}

} // namespace

void add_top(App app) {
  const auto arguments = std::make_shared<TopArguments>();
  arguments->record.buffer = "last:8M";
  const App command = app.add_subcommand("top", "Show what the threads do now, as top(1) does");
  command.usage("ovnitrace top [OPTIONS] [-a|-p PID]");
  add_capture_options(command, arguments->record);
  command
      .add_option_function<std::string>(
          "-i,--interval",
          [arguments](const std::string &text) { arguments->interval = parse_interval(text); },
          "How long an interval is: 500ms, 2s (default: 1s)")
      .type_name("TIME");
  command
      .add_option("--sort", arguments->view.sort,
                  fmt::format("Sort by this, the largest first: {} (default: run)",
                              fmt::join(top_sort_words(), ", ")))
      .type_name("COLUMN")
      .one_of(top_sort_words())
      .default_if(is_among(top_sort_words()));
  command
      .add_option_function<std::string>(
          "--by",
          [arguments](const std::string &word) {
            arguments->view.by = word == "process" ? TopBy::process
                                 : word == "name"  ? TopBy::name
                                                   : TopBy::thread;
          },
          "Print one line for each thread (default), process or name")
      .type_name("WHAT")
      .one_of({"thread", "process", "name"});
  add_number(command, "--batch", arguments->batch, 1, UINT32_MAX,
             "Print N intervals as text, and end");
  add_number(command, kTop, arguments->top, 0, UINT32_MAX,
             "With --batch: print at most N lines of a table; 0: all (default: 20)");
  command
      .add_flag(kJson, arguments->json,
                "With --batch: print the object of `ovnitrace info --json` for each interval, in "
                "one line (docs/info.md)")
      .default_if([arguments] { return arguments->batch != 0; });
  command
      .add_option("--metrics", arguments->metrics,
                  "Draw nothing, but serve counters for Prometheus at "
                  "http://ADDRESS:PORT/metrics until Ctrl-C. The default address is 127.0.0.1")
      .type_name("[ADDRESS:]PORT");
  command.footer(R"(
Shows the whole machine, or the processes of -p. A line is a thread, unless --by says otherwise:

  RUN %       the share of the interval in which it was on a CPU
  PREEMPT     the share in which it was preempted or yielded, and waited to get a CPU back
  WOKEN       the share in which it was woken and waited for a CPU
  BLOCK       the share in which it was blocked
  THROTTLE    the share in which it had no CPU quota or budget left; shown if that happened
  SW/s        how often it left its CPU in a second
  p99, MAX    how long it waited for a CPU after a wakeup; p50, too, on a wide terminal
  BLOCKED IN  the system call in which it was blocked longest; only on a wide terminal

The key ? lists all keys. top keeps the last 8 MiB of events of each CPU in memory. The key w writes
these events as a trace into the current directory. For each interval, top also writes a temporary
trace into TMPDIR or /dev/shm.

Examples:
  sudo ovnitrace top
  sudo ovnitrace top -p nginx --sort max
  sudo ovnitrace top --batch 1 --by process
  sudo ovnitrace top --batch 60 --json | jq '.threads[0]'
  sudo ovnitrace top --metrics 9877)");
  command.callback([arguments] { return top(*arguments); });
}

} // namespace ovnitrace
