// SPDX-License-Identifier: BSD-2-Clause
// Why threads are off their CPUs, as the kernel says it: at the start of a capture, where /proc is
// the truth, and later.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <unistd.h>

namespace fs = std::filesystem;

namespace ovnitrace::test {

namespace {

/// What /proc says of a thread.
struct Seen {
  std::string state, cpu, switches, cpus;
  bool operator==(const Seen &) const = default;
};

/// Returns the rest of a line of /proc/PID/status.
std::string status_of(const std::string &text, const std::string &key) {
  const size_t at = text.find("\n" + key + ":\t");
  if (at == text.npos)
    return "";
  const size_t from = at + key.size() + 3;
  return text.substr(from, text.find('\n', from) - from);
}

std::string read_if_there(const std::string &path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<Seen> look_at(const std::string &task) {
  const std::string stat = read_if_there(task + "/stat"), status = read_if_there(task + "/status");
  const size_t name_end = stat.rfind(')');
  if (name_end == stat.npos || status.empty())
    return std::nullopt;
  std::istringstream words(stat.substr(name_end + 1));
  Seen seen;
  words >> seen.state;
  for (int field = 4; field <= 39; field++)
    words >> seen.cpu;
  seen.switches = status_of(status, "voluntary_ctxt_switches") + "+" +
                  status_of(status, "nonvoluntary_ctxt_switches");
  seen.cpus = status_of(status, "Cpus_allowed");
  return seen;
}

/// Returns all threads of the machine, by tid. Some hosted machines hide those of process 1.
std::map<uint32_t, Seen> look_at_all() {
  std::map<uint32_t, Seen> all;
  std::error_code gone;
  for (const auto &process : fs::directory_iterator("/proc", gone)) {
    const std::string pid = process.path().filename();
    if (!isdigit(pid[0]) || pid == "1")
      continue;
    for (const auto &task : fs::directory_iterator("/proc/" + pid + "/task", gone))
      if (const auto seen = look_at(task.path()))
        all[uint32_t(std::stoul(task.path().filename()))] = *seen;
  }
  return all;
}

} // namespace

class Snapshot : public CaptureTest {
protected:
  size_t count(const std::vector<DumpEvent> &events, uint64_t tid, const std::string &reason) {
    size_t found = 0;
    for (const DumpEvent &event : events)
      found += event.tid == tid && event.event == "task_sleep" && event.detail("reason") == reason;
    return found;
  }
};

// A thread that has not been switched meanwhile was in the same state all the time.
TEST_F(Snapshot, AgreesWithProcOnEachThreadThatIsOffItsCpu) {
  Process stopped({.argv = {"sh", "-c", "kill -STOP $$"}});
  const std::string task = "/proc/" + std::to_string(stopped.pid());
  ASSERT_TRUE(eventually([&] { return look_at(task).value_or(Seen()).state == "T"; }, "it stops"));
  const auto before = look_at_all();
  record({}, {"-a", "-d", "0.1"});
  const auto after = look_at_all();
  stopped.signal(SIGKILL);
  const std::map<std::string, std::string> reasons = {
      {"S", "sleep"},  {"D", "disk"},   {"I", "idle"}, {"T", "stopped"},
      {"t", "traced"}, {"P", "parked"}, {"Z", "dead"}, {"X", "dead"}};
  std::map<uint32_t, const DumpEvent *> snapshots;
  std::map<uint32_t, std::string> cpus;
  const std::vector<DumpEvent> events = dump(trace());
  for (const DumpEvent &event : events)
    if (event.event == "EXT_snapshot")
      snapshots.try_emplace(event.tid, &event);
    else if (event.event == "EXT_affinity" && event.detail("word").empty())
      cpus.try_emplace(event.tid, event.detail("cpus"));
  std::map<std::string, size_t> compared; // by state
  for (const auto &[tid, seen] : before) {
    const auto now = after.find(tid);
    if (now == after.end() || now->second != seen || !reasons.contains(seen.state))
      continue;
    SCOPED_TRACE("thread " + std::to_string(tid));
    ASSERT_TRUE(snapshots.contains(tid));
    const DumpEvent &snapshot = *snapshots.at(tid);
    EXPECT_EQ(snapshot.detail("reason"), reasons.at(seen.state));
    EXPECT_EQ(snapshot.detail("state"), reasons.at(seen.state) == "dead" ? "dead" : "paused");
    EXPECT_EQ(snapshot.detail("cpu"), seen.cpu);
    if (sysconf(_SC_NPROCESSORS_CONF) <= 24) {
      EXPECT_EQ(strtoul(cpus[tid].c_str(), nullptr, 16), strtoul(seen.cpus.c_str(), nullptr, 16));
    }
    compared[seen.state]++;
  }
  for (const char *state : {"S", "I", "T"})
    EXPECT_GT(compared[state], 0u) << state;
}

TEST_F(Snapshot, StopsAndUninterruptibleSleepsHaveTheirReasons) {
  const Outcome outcome = record({installed("stops")});
  const auto tid = [&](const std::string &who) { return number_after(outcome.out, who + " "); };
  const std::vector<DumpEvent> events = dump(trace());
  EXPECT_EQ(count(events, tid("stopped"), "stopped"), 1u);
  EXPECT_EQ(count(events, tid("stopped"), "traced"), 0u);
  EXPECT_GE(count(events, tid("traced"), "traced"), 1u);
  EXPECT_EQ(count(events, tid("traced"), "stopped"), 0u);
  bool in_vfork = false;
  for (const DumpEvent &event : events)
    if (event.tid == tid("main") &&
        (event.detail("call") == "vfork" || event.detail("call") == "clone")) {
      EXPECT_EQ(event.detail("reason"), "disk");
      in_vfork = true;
    }
  EXPECT_TRUE(in_vfork);
  EXPECT_GE(count(events, tid("main"), "sleep"), 1u) << "in wait4";
}

} // namespace ovnitrace::test
