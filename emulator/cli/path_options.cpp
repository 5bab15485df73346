// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/path_options.h"

#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "emulator/base/to_number.h"
#include "emulator/summary/names.h"

namespace ovnitrace {

namespace {

constexpr const char *kGroup = "Critical path"; // in --help

} // namespace

void add_path_options(App command, PathArguments &arguments, const std::string &what) {
  const auto set = [&arguments](const std::string &text) {
    arguments.wanted = true;
    if (text == "true") // without a value
      return;
    arguments.query.tid = to_number<uint32_t>(text);
    if (arguments.query.tid.value_or(0) == 0)
      refuse_value("'" + text + "' is no thread id");
  };
  command
      .add_flag("--critical-path", arguments.text,
                what + ". It says on which thread the result depended at each moment. The path "
                       "is followed back from the end of thread TID (default: the program's main "
                       "thread)")
      .each(set)
      .type_name("[=TID]")
      .values(kTraceTids)
      .group(kGroup);
  command
      .add_option("--section", arguments.query.section,
                  "Sections of the program with this number (docs/user-events.md). With "
                  "--critical-path: show the path of the longest one")
      .type_name("NUMBER")
      .group(kGroup)
      .default_if([&arguments] { return arguments.wanted; });
}

void check_section(const PathArguments &arguments) {
  if (arguments.query.section && !arguments.wanted)
    throw UsageError("--section needs --critical-path");
}

std::optional<CriticalPath> wanted_path(const PathArguments &arguments, const TraceInfo &info,
                                        const Cut &cut, EventSource &source) {
  if (!arguments.wanted)
    return {};
  PathQuery query = arguments.query;
  if (!query.tid && cut.tids.size() == 1)
    query.tid = cut.tids.front();
  CriticalPath path = critical_path(source, info, cut, query);
  if (path.guessed)
    print("the critical path is that of {}, which ran longest{} of those that have not ended; "
          "--critical-path=TID chooses another",
          thread_label(source.catalog().threads[path.thread]),
          cut.chooses_threads() ? " of those chosen, and" : "");
  return path;
}

std::optional<CriticalPath> wanted_path(const PathArguments &arguments, const TraceInfo &info,
                                        const Cut &cut,
                                        const std::function<std::unique_ptr<EventSource>()> &open) {
  if (!arguments.wanted)
    return {};
  return wanted_path(arguments, info, cut, *open());
}

} // namespace ovnitrace
