// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace plot: draws the timeline as a figure, or in the terminal.
#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/cut_options.h"
#include "emulator/cli/output_ending.h"
#include "emulator/cli/path_options.h"
#include "emulator/cli/progress_bar.h"
#include "emulator/cli/run.h"
#include "emulator/cli/shared_options.h"
#include "emulator/cli/stdout_writer.h"
#include "emulator/cli/terminal.h"
#include "emulator/cli/terminal_options.h"
#include "emulator/cli/trace_inputs.h"
#include "emulator/cli/warnings.h"
#include "emulator/input/trace_info.h"
#include "emulator/open/open_trace.h"
#include "emulator/output/atomic_file.h"
#include "emulator/plot/figure.h"
#include "emulator/plot/svg.h"
#include "emulator/plot/text_figure.h"

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace ovnitrace {

namespace {

constexpr size_t kMostRows = 1000;

struct PlotArguments {
  std::string trace, output;
  bool force = false;
  FigureOptions figure;
  CutArguments cut;
  PathArguments path;
};

TextStyle text_style() {
  if (!wants_colors())
    return TextStyle::plain;
  const char *value = std::getenv("COLORTERM");
  const std::string_view colors = value ? value : "";
  return colors == "truecolor" || colors == "24bit" ? TextStyle::true_color : TextStyle::indexed;
}

void write_out(const std::string &text) {
  StdoutWriter out;
  out.write(text);
  out.flush();
}

void write_svg(const std::string &path, const Figure &figure) {
  if (path == "-")
    return write_out(svg_of(figure));
  write_text_file(OutputPlace(path), svg_of(figure));
  print("{}: {}", path, figure.subtitle);
}

int plot(PlotArguments arguments) {
  check_ending(arguments.output, {".svg"},
               "a figure is SVG: give a name that ends in .svg; `rsvg-convert` or a browser makes "
               "other formats of it");
  require_free(arguments.output, arguments.force);
  check_section(arguments.path);
  const bool picture = !arguments.output.empty();
  if (!picture && arguments.figure.arrows)
    throw UsageError("--arrows needs -o FILE.svg");
  if (!picture)
    arguments.figure.columns = text_columns(terminal_columns(STDOUT_FILENO));
  arguments.figure.cut = cut_of(arguments.cut, arguments.trace);
  if (arguments.figure.cut.from == arguments.figure.cut.to)
    throw UsageError("--from and --to are the same time: a figure needs a range to draw");
  Warnings warnings;
  const ProgressBar progress;
  const TraceInfo info = about_trace(arguments.trace);
  const auto open =
      reopener(arguments.trace, warnings, needed_from(arguments.path, arguments.figure.cut));
  std::optional<CriticalPath> path = wanted_path(arguments.path, info, arguments.figure.cut, open);
  arguments.figure.path = path ? &*path : nullptr;
  const Figure figure = make_figure(arguments.trace, info, open, arguments.figure);
  if (picture)
    write_svg(arguments.output, figure);
  else
    write_out(text_of(figure, text_style()));
  warnings.finish();
  return warnings.damage() ? kExitFailure : 0;
}

} // namespace

void add_plot(App app) {
  const auto arguments = std::make_shared<PlotArguments>();
  const App command = add_unprivileged(
      app, "plot", "Draw the timeline as an SVG figure, or as text in the terminal");
  command.add_option("TRACE", arguments->trace, kOneTrace).required();
  command
      .add_option(kOutput, arguments->output,
                  "Write an SVG figure; - is standard output (default: print text)")
      .type_name("FILE.svg");
  add_force(command, arguments->force);
  command
      .add_option(std::string(kTop) + ",--rows", arguments->figure.rows,
                  "Draw at most N threads: those that ran or waited longest (default: 40)")
      .type_name("N")
      .range(1, kMostRows);
  command.add_flag(
      "--arrows", arguments->figure.arrows,
      "With -o: draw an arrow for each wakeup, from the waker to where the woken thread "
      "gets its CPU");
  add_cut_options(command, arguments->cut);
  add_path_options(command, arguments->path, "Draw the critical path");
  add_terminal_options(command);
  command.footer(R"(
A row is a thread, and a column is a part of the time. If a thread is in several states during a
column, each state fills a part of the column, by its share of the time (docs/plot.md). On a
terminal, the text is as wide as the terminal. --color says when it has colours.

The exit status is 1 if a part of the trace is damaged. The rest is still drawn.

Examples:
  ovnitrace plot app-20250101-120000
  ovnitrace plot app-20250101-120000 -o app.svg --from 1.5s --to 1.6s --arrows
  ovnitrace plot app-20250101-120000 --comm 'worker-*' --top 8 -o workers.svg)");
  command.callback([arguments] { return plot(*arguments); });
}

} // namespace ovnitrace
