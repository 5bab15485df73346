// SPDX-License-Identifier: BSD-2-Clause
#include "tests/e2e/support/logged.h"

#include "emulator/format/event_names.h"
#include "tests/e2e/support/process.h"
#include "tests/e2e/support/trace.h"

#include <gtest/gtest.h>

#include <map>

namespace ovnitrace::test {

namespace {

using Key = std::pair<std::string, std::string>; ///< parameters 1 and 2

/// An event of the trace, and the thread that had its CPU when it was logged.
struct Seen {
  DumpEvent event;
  uint32_t running;
};

bool is_own(const std::string &event) {
  return event.starts_with("user_event_") || event == "ipoint" || event == "data_pointer";
}

bool is_section(const DumpEvent &event) {
  return event.event == "user_event_13" || event.event == "user_event_14";
}

/// In decimal, as the program prints it; dump prints a pointer in hexadecimal.
std::string par2_of(const DumpEvent &event) {
  const std::string text = event.detail(event.event == "data_pointer" ? "pointer" : "par2");
  return std::to_string(strtoul(text.c_str(), nullptr, 0));
}

std::map<Key, std::vector<Seen>> own_events(const std::vector<DumpEvent> &events) {
  std::map<Key, std::vector<Seen>> own;
  std::map<int, uint32_t> running;
  for (const DumpEvent &event : events) {
    if (event.takes_cpu())
      running[event.cpu] = event.tid;
    else if (event.leaves_cpu())
      running[event.cpu] = 0;
    else if (is_own(event.event) && !is_section(event))
      own[{event.detail("par1"), par2_of(event)}].push_back({event, running[event.cpu]});
  }
  return own;
}

} // namespace

std::vector<LoggedEvent> read_logged(const std::string &text) {
  std::vector<LoggedEvent> all;
  for (const std::string &line : lines_of(text)) {
    if (!line.starts_with("logged tid="))
      continue;
    LoggedEvent event;
    event.tid = uint32_t(number_after(line, "tid="));
    event.code = uint32_t(number_after(line, "code="));
    event.par1 = uint32_t(number_after(line, "par1="));
    event.par2 = uint32_t(number_after(line, "par2="));
    event.before = number_after(line, "before=");
    event.after = number_after(line, "after=");
    event.cpu = line.ends_with("cpu=-1") ? -1 : int(number_after(line, "cpu="));
    all.push_back(event);
  }
  return all;
}

void expect_in_trace(const std::vector<LoggedEvent> &logged, const std::string &trace) {
  EXPECT_FALSE(logged.empty());
  const uint64_t begin = read_trace_json(trace).begin;
  const auto own = own_events(dump(trace));
  EXPECT_EQ(own.size(), logged.size());
  std::map<uint32_t, uint64_t> last_of;
  for (const LoggedEvent &event : logged) {
    const auto found = own.find({std::to_string(event.par1), std::to_string(event.par2)});
    SCOPED_TRACE("tid " + std::to_string(event.tid) + " par2 " + std::to_string(event.par2));
    if (found == own.end() || found->second.size() != 1) {
      ADD_FAILURE() << (found == own.end() ? 0 : found->second.size()) << " times in the trace";
      continue;
    }
    const Seen &seen = found->second[0];
    const uint64_t time = begin + seen.event.time;
    EXPECT_EQ(seen.event.event, event_name(event.code));
    EXPECT_LE(event.before, time);
    EXPECT_LE(time, event.after);
    EXPECT_EQ(seen.running, event.tid) << "who runs there";
    EXPECT_EQ(seen.event.tid, event.tid) << "whose it is, says dump";
    if (event.cpu >= 0) {
      EXPECT_EQ(seen.event.cpu, event.cpu);
    }
    EXPECT_LT(last_of[event.tid], time) << "the order of its thread";
    last_of[event.tid] = time;
  }
}

} // namespace ovnitrace::test
