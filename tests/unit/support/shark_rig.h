// SPDX-License-Identifier: BSD-2-Clause
// Reads and converts what SharkBuilder writes.
#pragma once

#include "emulator/base/error.h"
#include "emulator/format/event_names.h"
#include "emulator/open/open_trace.h"
#include "tests/support/convert_directory.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/shark_builder.h"
#include "tests/unit/support/temp_dir.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace ovnitrace::test {

inline constexpr uint32_t kNsRate = 1000000; // ticks are ns

/// A file, read to its end.
struct ReadBack {
  Catalog catalog;
  std::vector<Event> events;
  CollectingSink sink;

  /// "name@time/tid" of all events; the tid of the running context for what is of no thread is -.
  std::vector<std::string> text() const {
    std::vector<std::string> all;
    for (const Event &event : events)
      all.push_back(fmt::format(
          "{}@{}/{}", event_name(event.kind), event.time,
          event.thread == kNone ? "-" : std::to_string(catalog.threads[event.thread].tid)));
    return all;
  }
  /// Those of some kinds.
  std::vector<std::string> text(std::vector<uint32_t> kinds) const {
    std::vector<std::string> all = text(), some;
    for (size_t i = 0; i < events.size(); i++)
      if (std::find(kinds.begin(), kinds.end(), events[i].kind) != kinds.end())
        some.push_back(all[i]);
    return some;
  }
  std::vector<std::string> rows() const {
    std::vector<std::string> all;
    for (const ThreadInfo &thread : catalog.threads)
      all.push_back(fmt::format("{} ({}) pid {}", thread.name, thread.tid, thread.pid));
    return all;
  }
};

inline void read_file(const std::string &path, ReadBack &back) {
  const auto source = open_trace({{path}}, back.sink);
  back.catalog = source->catalog();
  for (Event event; source->next(event);)
    back.events.push_back(event);
}

class Shark : public testing::Test {
protected:
  ReadBack read(size_t cut = 0) {
    file.write(path, cut);
    ReadBack back;
    read_file(path, back);
    return back;
  }
  std::string error() {
    file.write(path);
    CollectingSink sink;
    try {
      open_trace({{path}}, sink);
    } catch (const Error &e) {
      return e.what();
    }
    return "";
  }
  /// Converts; returns the lines of thread.prv or cpu.prv behind the header.
  std::vector<std::string> convert_to(const char *prv) {
    file.write(path);
    CollectingSink sink;
    ConvertOptions options;
    options.directory = path + ".prv.d";
    result = convert_directory(path, options, sink);
    std::vector<std::string> lines = lines_of(options.directory + "/" + prv);
    lines.erase(lines.begin());
    return lines;
  }
  /// "time value" of one type of one row, from 1.
  std::vector<std::string> timeline(const char *prv, int row, int type) {
    std::vector<std::string> found;
    for (const std::string &line : convert_to(prv)) {
      std::vector<std::string> fields;
      std::string field;
      for (char c : line + ":")
        if (c == ':') {
          fields.push_back(field);
          field.clear();
        } else {
          field += c;
        }
      // 2:cpu:appl:task:thread:time:type:value…
      const bool cpu = std::string(prv) == "cpu.prv";
      if (fields[0] != "2" || fields[cpu ? 4 : 3] != std::to_string(row))
        continue;
      for (size_t i = 6; i + 1 < fields.size(); i += 2)
        if (fields[i] == std::to_string(type))
          found.push_back(fields[5] + " " + fields[i + 1]);
    }
    return found;
  }

  TempDir dir;
  std::string path = dir / "trace.dat";
  SharkBuilder file;
  ConvertResult result;
};

using Texts = std::vector<std::string>;
inline const std::vector<uint32_t> kStates = {FTrace_EVT_task_dispatch, FTrace_EVT_task_epilogue,
                                              FTrace_EVT_task_sleep, FTrace_EVT_task_activate,
                                              FTrace_EVT_task_end};

} // namespace ovnitrace::test
