// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/thread_list.h"

#include "emulator/base/human.h"
#include "emulator/base/json_stream.h"
#include "emulator/cli/stdout_writer.h"
#include "emulator/format/thread_identity.h"
#include "emulator/input/trace_info.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ovnitrace {

void print_threads(const std::vector<listed_thread> &threads, bool json) {
  StdoutWriter out;
  if (json) {
    JsonStream object([&out](std::string_view text) { out.write(text); });
    object.member("schema", kJsonSchema);
    object.start_array("threads");
    for (const listed_thread &thread : threads)
      object.element(
          {{"tid", thread.tid}, {"pid", thread.pid}, {"name", ThreadName(thread.comm).text()}});
    object.end_array();
    object.end();
  } else {
    out.write(fmt::format("{:>8} {:>8} NAME\n", "PID", "TID"));
    for (const listed_thread &thread : threads)
      out.write(
          fmt::format("{:>8} {:>8} {}\n", thread.pid, thread.tid, ThreadName(thread.comm).text()));
    out.write(human_count(threads.size(), "thread", "threads") + " would be recorded now\n");
  }
  out.flush();
}

} // namespace ovnitrace
