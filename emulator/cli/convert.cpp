// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace convert: converts a trace to Paraver.
#include "emulator/convert/convert.h"
#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/cut_options.h"
#include "emulator/cli/output_ending.h"
#include "emulator/cli/path_options.h"
#include "emulator/cli/run.h"
#include "emulator/cli/run_conversion.h"
#include "emulator/cli/shared_options.h"
#include "emulator/cli/trace_inputs.h"
#include "emulator/input/trace_dir.h"
#include "emulator/open/open_trace.h"
#include "emulator/summary/summarizer.h"

#include <memory>

namespace ovnitrace {

namespace {

struct ConvertArguments {
  std::vector<std::string> inputs;
  std::string clock_offsets;
  bool quiet = false, force = false;
  uint64_t region = 0; ///< number of the only region to convert, from 1; 0: the whole trace
  PathArguments path;
  CutArguments cut;
  ConvertOptions options; ///< without a cut
};

bool is_part(const ConvertOptions &options) {
  return options.cut.cuts() || !options.cut.cpus.empty();
}

/// Chooses where the output goes. It goes beside the chunks of a trace directory. Other inputs, and
/// a part of a trace, whose files would replace those of the whole, get a directory of their own.
void choose_directory(const std::vector<std::string> &inputs, ConvertOptions &options) {
  if (inputs.size() > 1)
    throw UsageError("several traces become one timeline: name a directory for it with -o DIR");
  const std::string &trace = inputs.front();
  const bool part = is_part(options);
  if (is_trace_dir(trace) && !part) {
    options.directory = trace;
    return;
  }
  options.directory = nameable(trace) + (part ? ".cut.d" : ".prv.d");
  options.link = OutputDirectory::Link::refuse;
}

/// Cuts from the start of the region to its stop.
void cut_region(const ConvertArguments &arguments, Cut &cut) {
  if (arguments.cut.has_times())
    throw UsageError("--region excludes --from and --to: the region is the part of the trace");
  NoDiagnostics reported_later; // by the conversion
  const std::unique_ptr<EventSource> source =
      open_trace(trace_inputs(arguments.inputs, arguments.clock_offsets), reported_later);
  const Summary summary = summarize(*source);
  if (arguments.region > summary.regions.size())
    throw Error("--region {}: the trace has {}; `ovnitrace info` lists them", arguments.region,
                human_count(summary.regions.size(), "region", "regions"));
  const RegionSummary &region = summary.regions[arguments.region - 1];
  cut.from = region.start - source->catalog().begin;
  cut.to = (region.stop ? region.stop : summary.to) - source->catalog().begin;
}

int convert_command(ConvertArguments arguments) {
  ConvertOptions &options = arguments.options;
  check_section(arguments.path);
  check_is_no_stdout(options.directory, "a conversion is a directory of files: name it");
  const std::vector<TraceInput> inputs = trace_inputs(arguments.inputs, arguments.clock_offsets);
  options.cut = cut_of(arguments.cut, inputs);
  if (arguments.region)
    cut_region(arguments, options.cut);
  if (options.directory.empty())
    choose_directory(arguments.inputs, options);
  require_free(
      options.directory, arguments.force,
      is_trace_dir(arguments.inputs.front()) && !is_part(options) ? arguments.inputs.front() : "");
  NoDiagnostics reported_later; // by the conversion
  std::optional<CriticalPath> path =
      wanted_path(arguments.path, about_trace(arguments.inputs.front()), options.cut,
                  [&] { return open_trace(inputs, reported_later); });
  options.path = path ? &*path : nullptr;
  const auto output = arguments.quiet ? ConversionOutput::nothing : ConversionOutput::all;
  return run_conversion(inputs, options, output);
}

} // namespace

void add_convert(App app) {
  auto arguments = std::make_shared<ConvertArguments>();
  ConvertOptions &options = arguments->options;
  const App command = add_unprivileged(app, "convert", "Convert a trace to Paraver");
  command.add_option("TRACE", arguments->inputs, kSeveralTraces).required();
  command
      .add_option(
          kOutput, options.directory,
          "Write into this directory (default: the trace directory itself; TRACE.cut.d for a "
          "part of a trace; TRACE.prv.d for a trace that ovnitrace did not write). "
          "Required for several traces")
      .type_name("DIR");
  add_force(command, arguments->force);
  command.add_flag("--gzip", options.gzip, "Write thread.prv.gz and cpu.prv.gz");
  command.add_flag("--lint", options.lint,
                   "List all impossible events, and values that were pushed to a channel and never "
                   "popped (docs/models.md). Exit status: 1 if it lists any; otherwise 3 if the "
                   "trace has events of models that it cannot check");
  command
      .add_option("--model", options.model_files,
                  "Also show user events as timelines that this file defines (docs/models.md)")
      .type_name("FILE")
      .allow_extra_args(false);
  add_cut_options(command, arguments->cut);
  add_path_options(command, arguments->path, "Add a row of the critical path to thread.prv");
  command
      .add_option("--region", arguments->region,
                  "Only this region of --control, by its number in `ovnitrace info`")
      .type_name("N")
      .group(kCutGroup)
      .range(1, UINT32_MAX);
  add_cut_list(command, kCpu, "CPU", kTraceCpus, arguments->cut.cut.cpus,
               "Only these CPUs in cpu.prv");
  command
      .add_option(
          "--clock-offsets", arguments->clock_offsets,
          "Correct the clocks of the hosts by the offsets in this table, which has the format of "
          "ovni's ovnisync (docs/ovni.md)")
      .type_name("FILE");
  command.add_flag(kQuiet, arguments->quiet,
                   "Print no progress and no summary, only warnings about the trace");
  command.footer(R"(
Writes thread.prv and cpu.prv, each with a .pcf and a .row, and cfg/. Open a .prv in Paraver, then a
view of cfg/. cfg/README lists all views. Views of an earlier conversion are removed from cfg/.
Views that you saved under other names stay. The time of --from is time 0 of the timelines. --pid,
--tid, --comm, --cpu and --model can be given more than once.

In the trace directory, the files of an earlier conversion are replaced. Any other directory must be
new or empty, unless you give -f.

The exit status is 1 if a part of the trace is damaged. The rest is still converted.

Examples:
  ovnitrace convert app-20250101-120000
  ovnitrace convert app-20250101-120000 -o /tmp/one --pid 4321 --from 1.5s --to 1.6s
  ovnitrace convert --gzip --comm 'worker-*' -o /tmp/workers app-20250101-120000
  ovnitrace convert --lint --model phases.json app-20250101-120000)");
  command.callback([arguments] { return convert_command(*arguments); });
}

} // namespace ovnitrace
