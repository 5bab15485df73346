// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/missing_records.h"

#include "emulator/base/human.h"
#include "emulator/input/record_buffer.h"
#include "emulator/input/trace_dir.h"
#include "emulator/input/trace_info.h"

#include <fmt/format.h>

namespace ovnitrace {

namespace {

constexpr size_t kBlockRecords = 16384;

/// Counts the records of a file: a plain file by its size, a compressed one by reading it.
uint64_t count_records(const ChunkInput &chunk) {
  if (chunk.codec == Codec::none)
    return chunk.size / sizeof(ftrace_record);
  RecordBuffer buffer(chunk.fd.get(), chunk.size, kBlockRecords, chunk.codec);
  uint64_t records = 0;
  for (auto block = buffer.next_block(); !block.empty(); block = buffer.next_block())
    records += block.size();
  return records;
}

} // namespace

void report_missing_records(const HostInput &host, DiagnosticSink &sink) {
  for (const ChunkInput &chunk : host.chunks) {
    if (chunk.unwritten)
      sink.report({.file = chunk.name,
                   .offset = chunk.records * sizeof(ftrace_record),
                   .what = fmt::format("{}{} with {} in them could not be written",
                                       chunk.missing ? "there is no such file: " : "",
                                       human_count(chunk.unwritten, "record", "records"),
                                       human_count(chunk.unwritten_events, "event", "events"))});
    if (chunk.missing && (chunk.written || !chunk.unwritten))
      sink.report(
          {.file = chunk.name,
           .what =
               chunk.written
                   ? "the file is missing, with " + human_count(chunk.written, "record", "records")
                   : "the file is missing, or was not begun; what was in it is not known"});
    else if (!chunk.missing && chunk.records < chunk.written)
      sink.report({.file = chunk.name,
                   .offset = chunk.records * sizeof(ftrace_record),
                   .what = fmt::format("{} of its {} are missing",
                                       human_count(chunk.written - chunk.records),
                                       human_count(chunk.written, "record", "records"))});
  }
}

void report_missing_records(const std::string &directory, DiagnosticSink &sink) {
  HostInput host = open_trace_dir(directory, read_trace_info(directory, sink), 0);
  for (ChunkInput &chunk : host.chunks)
    chunk.records = count_records(chunk);
  report_missing_records(host, sink);
}

} // namespace ovnitrace
