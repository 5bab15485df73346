// SPDX-License-Identifier: BSD-2-Clause
#include "tests/e2e/support/trace.h"

#include "tests/e2e/support/e2e.h"

#include <nlohmann/json.hpp>

#include <sstream>

namespace ovnitrace::test {

namespace {

using Json = nlohmann::json;

ThreadRecord thread_of(const Json &json) {
  ThreadRecord thread;
  thread.tid = json.at("tid");
  thread.pid = json.at("pid");
  thread.parent = json.value("parent", 0u);
  thread.name = json.at("name");
  if (const auto account = json.find("kernel_account"); account != json.end())
    thread.account = {account->at("run_ns"), account->at("wait_ns"), account->at("slices"),
                      account->at("voluntary_switches"), account->at("involuntary_switches")};
  return thread;
}

DumpEvent parse_line(const std::string &line) {
  DumpEvent event;
  unsigned long long seconds = 0, fraction = 0;
  char cpu[16], name[64], thread[64];
  int used = 0;
  EXPECT_EQ(sscanf(line.c_str(), " %llu.%9llu %15s %63s %63s %n", &seconds, &fraction, cpu, name,
                   thread, &used),
            5)
      << "not a line of dump: " << line;
  const bool before = line[line.find_first_not_of(' ')] == '-';
  event.time = before ? 0 : seconds * 1'000'000'000 + fraction;
  event.cpu = cpu[0] == '-' ? -1 : atoi(cpu);
  event.event = name;
  const std::string who = thread; // comm(tid), - for none
  if (const size_t open = who.rfind('('); open != std::string::npos) {
    event.comm = who.substr(0, open);
    event.tid = tid_of(who);
  }
  event.details = line.substr(size_t(used));
  return event;
}

} // namespace

const ThreadRecord *TraceRecord::thread(uint32_t tid) const {
  for (const ThreadRecord &one : threads)
    if (one.tid == tid)
      return &one;
  return nullptr;
}

TraceRecord read_trace_json(const std::string &trace) {
  const Json json = Json::parse(read_text(trace + "/trace.json"));
  TraceRecord record;
  record.begin = json.at("begin_ns");
  record.end = json.value("end_ns", uint64_t(0));
  record.events = json.value("events", uint64_t(0));
  record.logged = json.value("logged_by_kernel", uint64_t(0));
  record.forgotten = json.value("forgotten", uint64_t(0));
  record.life_lost = json.value("life_events_lost", uint64_t(0));
  record.lost = json.value("lost", uint64_t(0));
  record.skipped_runs = json.value("skipped_runs", uint64_t(0));
  record.records = json.value("records", uint64_t(0));
  record.records_dropped = json.value("records_dropped", uint64_t(0));
  record.how = json.at("ended").at("how");
  record.write_error = json.at("ended").value("write_error", "");
  record.exit_status = json.at("ended").value("exit_status", -1);
  record.program_pid = json.value("program_pid", 0u);
  record.attached_pids = json.value("attached_pids", std::vector<uint32_t>());
  for (const Json &thread : json.value("threads", Json::array()))
    record.threads.push_back(thread_of(thread));
  return record;
}

std::string DumpEvent::detail(const std::string &key) const {
  std::istringstream words(details);
  for (std::string word; words >> word;)
    if (word.starts_with(key + "="))
      return word.substr(key.size() + 1);
  return "";
}

uint32_t tid_of(const std::string &thread) {
  const size_t open = thread.rfind('(');
  return uint32_t(atoi(thread.c_str() + (open == std::string::npos ? 0 : open + 1)));
}

std::vector<DumpEvent> parse_dump(const std::string &text) {
  std::vector<DumpEvent> events;
  for (const std::string &line : lines_of(text))
    events.push_back(parse_line(line));
  return events;
}

std::vector<DumpEvent> dump(const std::string &trace) {
  const Outcome outcome = run({.argv = {ovnitrace(), "dump", trace}});
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return parse_dump(outcome.out);
}

std::map<uint32_t, std::vector<DumpEvent>> by_thread(const std::vector<DumpEvent> &events) {
  std::map<uint32_t, std::vector<DumpEvent>> threads;
  for (const DumpEvent &event : events)
    if (event.tid)
      threads[event.tid].push_back(event);
  return threads;
}

uint64_t count_transitions(const std::vector<DumpEvent> &events) {
  uint64_t count = 0;
  // By CPU: the times at which a thread left it last, and ended there last.
  std::map<int, uint64_t> left_at, ended_at;
  const auto is_at = [](const std::map<int, uint64_t> &last, const DumpEvent &event) {
    const auto at = last.find(event.cpu);
    return at != last.end() && at->second == event.time;
  };
  for (const DumpEvent &event : events) {
    if (event.leaves_cpu())
      left_at[event.cpu] = event.time;
    if (event.event == "task_end")
      ended_at[event.cpu] = event.time;
    const bool same_switch = is_at(event.takes_cpu() ? left_at : ended_at, event);
    count += event.leaves_cpu() ||
             ((event.takes_cpu() || event.event == "EXT_holder") && !same_switch) ||
             event.event == "task_activate" || event.event == "EXT_migrate" ||
             event.event == "EXT_refill" ||
             event.event == "EXT_work"; // EXT_work_age is of the same record
  }
  return count;
}

} // namespace ovnitrace::test
