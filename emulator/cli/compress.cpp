// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace compress: compresses the chunk files of a trace, or decompresses them.
#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/run.h"
#include "emulator/cli/shared_options.h"
#include "emulator/cli/warnings.h"
#include "emulator/compress/compress_trace.h"
#include "emulator/format/chunk_frame.h"
#include "emulator/input/missing_records.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

namespace ovnitrace {

namespace {

struct CompressArguments {
  std::vector<std::string> traces;
  int level = 1;
  bool decompress = false, quiet = false;
};

void report_done(const std::string &trace, const CompressResult &result, bool decompress) {
  if (result.files)
    fmt::print("{}: {}, {} bytes before, {} after\n", trace,
               human_count(result.files, "file", "files"), result.bytes_before, result.bytes_after);
  if (result.left)
    fmt::print("{}: {} {} already: nothing to do{}\n", trace,
               human_count(result.left, "file", "files"), decompress ? "plain" : "compressed",
               decompress ? "" : "; for another level, decompress first (-d)");
}

int compress_command(const CompressArguments &arguments) {
  Warnings warnings;
  for (const std::string &trace : arguments.traces) {
    const CompressResult result =
        arguments.decompress ? decompress_trace(trace) : compress_trace(trace, arguments.level);
    if (!arguments.quiet)
      report_done(trace, result, arguments.decompress);
    report_missing_records(trace, warnings);
  }
  warnings.finish();
  return warnings.damage() ? kExitFailure : 0;
}

} // namespace

void add_compress(App app) {
  const auto arguments = std::make_shared<CompressArguments>();
  const App command =
      add_unprivileged(app, "compress", "Compress the chunk files of a trace, or decompress them");
  command.add_option("TRACE", arguments->traces, "Trace directories").required();
  const Option level =
      command
          .add_option("-l,--level", arguments->level,
                      "Level of compression, from 1 (fast) to 19 (small) (default: 1)")
          .type_name("N")
          .range(kLeastLevel, kMostLevel);
  command.add_flag("-d,--decompress", arguments->decompress, "Decompress the chunk files")
      .excludes(level);
  command.add_flag(kQuiet, arguments->quiet, "Print no summary, only warnings about the trace");
  command.footer(R"(
Each chunk becomes a zstd frame: cpu0000.ftr becomes cpu0000.ftr.zst. Every command reads both
forms. A capture is compressed already, unless it was recorded with --compress=0. A file is removed
only when its replacement is on the disk.

The exit status is 1 if a part of the trace is damaged. The rest is still compressed or
decompressed.

Examples:
  ovnitrace compress app-20250101-120000
  ovnitrace compress -d app-20250101-120000)");
  command.callback([arguments] { return compress_command(*arguments); });
}

} // namespace ovnitrace
