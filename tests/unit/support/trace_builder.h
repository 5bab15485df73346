// SPDX-License-Identifier: BSD-2-Clause
// Builds trace directories by hand, as docs/format.md says, good ones and broken ones:
//
//   TraceBuilder trace(dir.path());
//   trace.cpu(0).at(100).start().id(1, 4321, 4321, "app").dispatch(1).at(200).sleep(1).stop();
//   trace.write();
#pragma once

#include <ovnitrace/ftrace_codes.h>
#include <ovnitrace/ftrace_record.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace ovnitrace::test {

/// The chunk file of one CPU. Every call appends records and returns the builder.
class ChunkBuilder {
public:
  explicit ChunkBuilder(uint16_t cpu) : cpu_(cpu) { header(); }

  /// The time, in ns, of all that follows.
  ChunkBuilder &at(uint64_t time) {
    time_ = time;
    return *this;
  }
  /// Any record.
  ChunkBuilder &record(uint16_t code, uint16_t par1 = 0, uint32_t par2 = 0) {
    return record_at(time_, code, par1, par2);
  }
  ChunkBuilder &record_at(uint64_t tsc, uint16_t code, uint16_t par1 = 0, uint32_t par2 = 0) {
    ftrace_record r;
    ftrace_record_set(&r, code, par1, tsc, par2);
    records_.push_back(r);
    return *this;
  }

  ChunkBuilder &start() { return record(FTrace_EVT_trace_start, 0, 1000000); }
  ChunkBuilder &stop() { return record(FTrace_EVT_trace_stop); }
  /// Ends the chunk and begins the next one: contexts must be introduced again.
  ChunkBuilder &next_chunk() {
    record(FTrace_EVT_next_chunk, 0, ++chunk_);
    close_chunk();
    header();
    return *this;
  }

  ChunkBuilder &id(uint16_t context, uint32_t tid, uint32_t pid, const std::string &name,
                   uint64_t birth = 0) {
    record(FTrace_EVT_id, context, tid);
    record_at(birth, FTrace_EXT_process, context, pid);
    return this->name(context, name);
  }
  ChunkBuilder &parent(uint16_t context, uint32_t tid, uint64_t birth = 0) {
    return record_at(birth, FTrace_EXT_parent, context, tid);
  }
  ChunkBuilder &name(uint16_t context, const std::string &text) {
    static constexpr uint16_t codes[] = {FTrace_EXT_name_0, FTrace_EXT_name_1, FTrace_EXT_name_2,
                                         FTrace_EXT_name_3};
    for (size_t i = 0; i < 4 && i * 4 < text.size(); i++) {
      char four[4] = {};
      std::memcpy(four, text.data() + i * 4, std::min<size_t>(4, text.size() - i * 4));
      uint32_t word;
      std::memcpy(&word, four, 4);
      record(codes[i], context, word);
    }
    return *this;
  }

  ChunkBuilder &dispatch(uint16_t context, uint32_t priority_plus_1 = 0) {
    return record(FTrace_EVT_task_dispatch, context, priority_plus_1);
  }
  ChunkBuilder &epilogue(uint16_t context, uint32_t next_tid = 0,
                         uint32_t reason = FTRACE_OFFCPU_PREEMPTED) {
    return record(FTrace_EVT_task_epilogue, context, next_tid | reason << FTRACE_REASON_SHIFT);
  }
  ChunkBuilder &sleep(uint16_t context, uint32_t next_tid = 0,
                      uint32_t reason = FTRACE_OFFCPU_SLEEP) {
    return record(FTrace_EVT_task_sleep, context, next_tid | reason << FTRACE_REASON_SHIFT);
  }
  ChunkBuilder &end(uint16_t context, uint32_t tid = 0) {
    return record(FTrace_EVT_task_end, context, tid);
  }
  ChunkBuilder &activate(uint16_t context, uint32_t waker_tid = 0,
                         uint32_t in = FTRACE_WAKER_TASK) {
    return record(FTrace_EVT_task_activate, context, waker_tid | in << FTRACE_REASON_SHIFT);
  }
  /// The first wakeup of a new thread.
  ChunkBuilder &activate_new(uint16_t context, uint32_t waker_tid = 0) {
    return record(FTrace_EVT_task_activate, context, waker_tid | FTRACE_WAKEUP_NEW);
  }
  ChunkBuilder &create(uint16_t context, uint32_t tid) {
    return record(FTrace_EVT_task_create, context, tid);
  }
  ChunkBuilder &migrate(uint16_t context, uint32_t cpu) {
    return record(FTrace_EXT_migrate, context, cpu);
  }
  ChunkBuilder &snapshot(uint16_t context, uint32_t state, uint32_t cpu, uint32_t reason = 0) {
    return record(FTrace_EXT_snapshot, context,
                  state | cpu << FTRACE_SNAPSHOT_CPU_SHIFT | reason << FTRACE_REASON_SHIFT);
  }
  ChunkBuilder &blackout_start() { return record(FTrace_EVT_blackout_start); }
  ChunkBuilder &blackout_end(uint32_t lost) { return record(FTrace_EVT_blackout_end, 0, lost); }

  /// All records, with the counts of all chunks right.
  std::vector<ftrace_record> &records() {
    close_chunk();
    return records_;
  }

private:
  void header() {
    chunk_begin_ = records_.size();
    record(FTrace_EVT_cycles_per_msec, 0, 1000000);
    record(FTrace_EXT_format, FTRACE_EXT_VERSION);
    record(FTrace_EXT_chunk, cpu_, chunk_);
    record(FTrace_EVT_numevents);
  }
  void close_chunk() { records_[chunk_begin_ + 3].par2 = uint32_t(records_.size() - chunk_begin_); }

  uint16_t cpu_;
  uint32_t chunk_ = 0;
  uint64_t time_ = 0;
  size_t chunk_begin_ = 0;
  std::vector<ftrace_record> records_;
};

/// A trace directory, which must exist.
class TraceBuilder {
public:
  explicit TraceBuilder(std::string dir) : dir_(std::move(dir)) {}

  ChunkBuilder &cpu(uint16_t index) { return chunks_.try_emplace(index, index).first->second; }
  TraceBuilder &json(std::string text) {
    json_ = std::move(text);
    return *this;
  }

  /// The path of a CPU's file.
  std::string file(uint16_t cpu) const {
    char name[32];
    std::snprintf(name, sizeof name, "/cpu%04u.ftr", unsigned(cpu));
    return dir_ + name;
  }
  void write() {
    for (auto &[cpu, chunk] : chunks_) {
      const std::vector<ftrace_record> &records = chunk.records();
      write_file(file(cpu), records.data(), records.size() * sizeof(ftrace_record));
    }
    if (!json_.empty())
      write_file(dir_ + "/trace.json", json_.data(), json_.size());
  }
  static void write_file(const std::string &path, const void *data, size_t size) {
    std::remove(path.c_str()); // cutting an old file short would wait for the disk
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char *>(data), std::streamsize(size));
    if (!out.flush())
      throw std::runtime_error("cannot write " + path);
  }

private:
  std::string dir_;
  std::string json_;
  std::map<uint16_t, ChunkBuilder> chunks_;
};

} // namespace ovnitrace::test
