// SPDX-License-Identifier: BSD-2-Clause
// Makes ovni trace directories for tests: streams as libovni writes them, and any byte of them
// wrong.
#pragma once

#include "emulator/input/source.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace ovnitrace::test {

inline void write_file(const std::string &path, const std::string &text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

template <typename T> std::string bytes_of(T value) {
  return {reinterpret_cast<const char *>(&value), sizeof value};
}

inline std::string stream_header(uint32_t version = 1) {
  return "ovni" + bytes_of(version);
}

/// One event; a payload of 0 or 2 to 16 bytes.
inline std::string stream_event(const char *mcv, uint64_t time, const std::string &payload = "") {
  const char flags = payload.empty() ? 0 : char(payload.size() - 1);
  return flags + std::string(mcv, 3) + bytes_of(time) + payload;
}

inline std::string jumbo_event(const char *mcv, uint64_t time, const std::string &data) {
  return char(0x13) + std::string(mcv, 3) + bytes_of(time) + bytes_of(uint32_t(data.size())) + data;
}

inline std::string execute(uint64_t time, int32_t cpu) {
  return stream_event("OHx", time, bytes_of(cpu) + bytes_of(int32_t(-1)) + bytes_of(uint64_t(0)));
}

/// stream.json as libovni writes it; `more` is put behind app_id, from its comma on.
inline std::string
stream_json(const std::string &loom, int pid, int tid,
            const std::string &more =
                R"(, "loom_cpus": [{"index": 0, "phyid": 0}, {"index": 1, "phyid": 1}])") {
  return R"({"version": 3, "ovni": {"lib": {"version": "1.14.0", "commit": "x"}, "part": "thread",)"
         R"( "finished": 1, "require": {"ovni": "1.1.0"}, "tid": )" +
         std::to_string(tid) + R"(, "pid": )" + std::to_string(pid) + R"(, "loom": ")" + loom +
         R"(", "app_id": 1)" + more + "}}";
}

inline std::string stream_place(const std::string &loom, int pid, int tid) {
  return "loom." + loom + "/proc." + std::to_string(pid) + "/thread." + std::to_string(tid);
}

inline void write_stream(const TempDir &dir, const std::string &loom, int pid, int tid,
                         const std::string &events) {
  const std::string place = dir / stream_place(loom, pid, tid);
  write_file(place + "/stream.json", stream_json(loom, pid, tid));
  write_file(place + "/stream.obs", stream_header() + events);
}

/// Whether something was reported of which "file: what" has `part`.
inline bool reported(const CollectingSink &sink, const std::string &part) {
  return std::any_of(sink.reported.begin(), sink.reported.end(), [&](const Diagnostic &d) {
    return (d.file + ": " + d.what).find(part) != std::string::npos;
  });
}

/// All events, each as "mcv@time/thread".
inline std::vector<std::string> drain(EventSource &source) {
  std::vector<std::string> events;
  for (Event event; source.next(event);) {
    const char letters[] = {char(event.kind >> 16), char(event.kind >> 8), char(event.kind)};
    events.push_back(std::string(letters, 3) + "@" + std::to_string(event.time) + "/" +
                     std::to_string(event.thread));
  }
  return events;
}

} // namespace ovnitrace::test
