// SPDX-License-Identifier: BSD-2-Clause
// A trace that a collector fills, in memory.
#pragma once

#include "emulator/base/error.h"
#include "user/net/trace_sink.h"

#include <ovnitrace/ftrace_record.h>

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace::test {

struct MemoryTrace {
  std::string name;
  std::map<std::pair<uint16_t, Codec>, std::string> files; ///< by CPU
  std::string unfinished, description;
  size_t room = SIZE_MAX; ///< bytes; then it fails
  bool discarded = false;
};

class MemorySink final : public TraceSink {
public:
  explicit MemorySink(MemoryTrace &trace) : trace_(trace) {}
  void append(uint16_t cpu, Codec codec, std::string_view bytes) override {
    if (bytes.size() > trace_.room)
      throw Error("no room");
    trace_.room -= bytes.size();
    trace_.files[{cpu, codec}] += bytes;
    bytes_ += bytes.size();
  }
  void describe(std::string_view text) override { trace_.unfinished += text; }
  void end_description() override { trace_.description = std::exchange(trace_.unfinished, {}); }
  void discard() noexcept override { trace_.discarded = true; }
  uint64_t bytes() const override { return bytes_; }
  std::string path() const override { return "memory/" + trace_.name; }

private:
  MemoryTrace &trace_;
  uint64_t bytes_ = 0;
};

/// Makes such traces, which stay where they are.
struct MemoryStore {
  std::map<std::string, MemoryTrace> traces;
  size_t room = SIZE_MAX; ///< of each
  MakeTraceSink maker() {
    return [this](const std::string &name) {
      MemoryTrace &trace = traces[name];
      trace.name = name;
      trace.room = room;
      return std::make_unique<MemorySink>(trace);
    };
  }
};

/// Returns the records of a plain file.
inline std::vector<ftrace_record> records_of(const std::string &file) {
  std::vector<ftrace_record> records(file.size() / sizeof(ftrace_record));
  memcpy(records.data(), file.data(), records.size() * sizeof(ftrace_record));
  return records;
}

} // namespace ovnitrace::test
