// SPDX-License-Identifier: BSD-2-Clause
// A trace of a program, app (10), and the answer to it: emulator/why/sentences.
#pragma once

#include "emulator/core/program_threads.h"
#include "emulator/why/sentences.h"
#include "tests/unit/support/why_rig.h"

#include <string>

namespace ovnitrace::test {

class SentencesRig : public WhyRig {
protected:
  /// What trace.json says: of a capture of app (10), or of all threads with it.
  void about(const std::string &more) {
    trace.json(R"({"version": 1, "machine": "x86_64", "command": ["/usr/bin/app", "x"],
                   "program_pid": 10)" +
               more + "}");
  }
  /// Describes a capture that started a program, whose process runs.
  static ChunkBuilder &start_app(TraceBuilder &builder, uint32_t pid) {
    builder.json(R"({"version": 1, "machine": "x86_64", "command": ["app"], "program_pid": )" +
                 std::to_string(pid) + "}");
    return builder.cpu(0).at(0).start().id(1, pid, pid, "app").create(1, pid).dispatch(1);
  }
  static ChunkBuilder &block(ChunkBuilder &cpu, uint16_t context, uint32_t next = 0) {
    return WhyRig::block(cpu, context, kFutex, next);
  }
  Answer answer(const Cut &cut = {}) {
    trace.write();
    source = open_trace({{dir.path()}}, sink);
    const TraceInfo read = read_trace_info(dir.path(), sink);
    const Catalog &catalog = source->catalog();
    return answer_of(read, catalog, explain(*source, cut_to_program(cut, read, catalog)));
  }
};

} // namespace ovnitrace::test
