// SPDX-License-Identifier: BSD-2-Clause
#include "tests/e2e/support/prv.h"

#include "tests/e2e/support/e2e.h"

#include <charconv>
#include <sstream>

namespace ovnitrace::test {

namespace {

/// The numbers of a record, divided by colons.
std::vector<int64_t> numbers_of(const std::string &line) {
  std::vector<int64_t> numbers;
  const char *at = line.data(), *end = at + line.size();
  while (at < end) {
    int64_t number = 0;
    const auto [after, error] = std::from_chars(at, end, number);
    if (error != std::errc() || (after != end && *after != ':')) {
      ADD_FAILURE() << "not a record: " << line;
      return {};
    }
    numbers.push_back(number);
    at = after + 1;
  }
  return numbers;
}

/// 2:cpu:appl:task:thread:time:type:value[:type:value…]; `row` is that of
/// its task and thread.
void read_events(const std::vector<int64_t> &numbers, Prv &prv, size_t row) {
  EXPECT_TRUE(numbers.size() >= 8 && numbers.size() % 2 == 0);
  for (size_t n = 6; n + 1 < numbers.size(); n += 2)
    prv.events.push_back({uint64_t(numbers[5]), row, uint32_t(numbers[n]), numbers[n + 1]});
}

/// The first row of each task: `…:APPLS:ntasks(threads:node,threads:node,…)` of the header.
std::vector<size_t> first_rows(const std::string &header, size_t &rows) {
  std::vector<size_t> first;
  rows = 0;
  std::string list = header.substr(header.rfind('(') + 1);
  std::istringstream tasks(list.substr(0, list.find(')')));
  for (std::string task; std::getline(tasks, task, ',');) {
    first.push_back(rows);
    rows += strtoull(task.c_str(), nullptr, 10);
  }
  return first;
}

void read_rows(const std::string &path, size_t rows, Prv &prv) {
  const std::vector<std::string> lines = lines_of(read_text(path));
  for (size_t n = 0; n < lines.size(); n++)
    if (lines[n].starts_with("LEVEL THREAD SIZE ")) {
      const size_t count = strtoull(lines[n].c_str() + 18, nullptr, 10);
      EXPECT_EQ(count, rows) << path << " and the header disagree";
      ASSERT_LE(n + count, lines.size() - 1) << path << " is cut";
      prv.rows.assign(lines.begin() + long(n) + 1, lines.begin() + long(n + 1 + count));
    }
  EXPECT_EQ(prv.rows.size(), rows) << path;
}

void read_pcf(const std::string &path, Prv &prv) {
  bool types = false;
  for (const std::string &line : lines_of(read_text(path))) {
    EXPECT_TRUE(line.empty() || line.back() != '\r') << "Paraver refuses carriage returns";
    if (line == "EVENT_TYPE")
      types = true;
    else if (line.empty() || line == "VALUES")
      types = false;
    else if (types) {
      std::istringstream words(line);
      uint32_t gradient = 0, type = 0;
      std::string label;
      words >> gradient >> type >> label;
      EXPECT_NE(label, "") << path << ": a type without a label: " << line;
      prv.types.insert(type);
    }
  }
}

} // namespace

Prv read_prv(const std::string &directory, const std::string &name) {
  const std::string base = directory + "/" + name;
  Prv prv;
  std::istringstream file(read_text(base + ".prv"));
  std::string header;
  std::getline(file, header);
  const size_t at = header.find("):");
  EXPECT_TRUE(header.starts_with("#Paraver (") && at != std::string::npos) << header;
  prv.length = strtoull(header.c_str() + at + 2, nullptr, 10);
  EXPECT_NE(header.find("_ns:"), std::string::npos) << header;
  size_t rows = 0;
  const std::vector<size_t> first = first_rows(header, rows);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || line.starts_with("c:"))
      continue;
    const std::vector<int64_t> numbers = numbers_of(line);
    if (numbers.size() < 8)
      ADD_FAILURE() << "a short record: " << line;
    else if (numbers[0] == 2)
      read_events(numbers, prv, first.at(size_t(numbers[3] - 1)) + size_t(numbers[4] - 1));
    else
      prv.arrows += numbers[0] == 3;
  }
  read_rows(base + ".row", rows, prv);
  read_pcf(base + ".pcf", prv);
  return prv;
}

namespace {

void expect_well_formed(const char *name, const Prv &prv) {
  SCOPED_TRACE(name);
  uint64_t last = 0;
  size_t back = 0, behind = 0, error_states = 0;
  std::set<uint32_t> unlabelled;
  for (const PrvEvent &event : prv.events) {
    back += event.time < last;
    behind += event.time > prv.length;
    error_states +=
        (event.type == kThreadState || event.type == kThreadCpu || event.type == kCpuRunning) &&
        (event.value == 666 || event.value == 777);
    if (!prv.types.contains(event.type))
      unlabelled.insert(event.type);
    last = event.time;
  }
  EXPECT_FALSE(prv.events.empty());
  EXPECT_EQ(back, 0u) << "events whose time goes back";
  EXPECT_EQ(behind, 0u) << "events behind the end of the header";
  EXPECT_EQ(error_states, 0u) << "values 666 and 777";
  EXPECT_TRUE(unlabelled.empty()) << "type " << *unlabelled.begin() << " is not in the .pcf";
}

/// The tid of a row `comm (tid)`, or `thread tid` where the name is not known.
int64_t tid_of_row(const std::string &row) {
  const size_t end = row.find_last_of("0123456789");
  const size_t before = row.find_last_not_of("0123456789", end);
  return atoll(row.c_str() + (before == std::string::npos ? 0 : before + 1));
}

/// Returns what is wrong at an instant; empty if nothing is wrong.
std::string disagreement(const Instant &now, const Prv &thread) {
  std::vector<int> running(now.cpus.size(), 0);
  std::vector<int64_t> tid(now.cpus.size(), 0);
  for (size_t row = 0; row < now.threads.size(); row++) {
    const int64_t state = value_of(now.threads[row], kThreadState);
    if (state < kUnknown || state > kWarming)
      return thread.rows[row] + " is in no state";
    const int64_t own = state == kRunning ? tid_of_row(thread.rows[row]) : 0;
    if (value_of(now.threads[row], kThreadTid) != own)
      return thread.rows[row] + ": its TID does not show whether it runs";
    if (state != kRunning)
      continue;
    const int64_t cpu = value_of(now.threads[row], kThreadCpu) - 1;
    if (cpu < 0 || cpu >= int64_t(running.size()))
      return thread.rows[row] + " runs on no CPU";
    running[size_t(cpu)]++;
    tid[size_t(cpu)] = own;
  }
  for (size_t cpu = 0; cpu < running.size(); cpu++) {
    if (running[cpu] > 1)
      return "two threads run on CPU " + std::to_string(cpu);
    if (value_of(now.cpus[cpu], kCpuRunning) != running[cpu])
      return "CPU " + std::to_string(cpu) + " counts another number of threads";
    if (value_of(now.cpus[cpu], kCpuTid) != tid[cpu])
      return "CPU " + std::to_string(cpu) + " shows another thread";
  }
  return "";
}

} // namespace

void expect_sound(const Prv &thread, const Prv &cpu) {
  expect_well_formed("thread.prv", thread);
  expect_well_formed("cpu.prv", cpu);
  EXPECT_EQ(thread.length, cpu.length);
  size_t wrong = 0;
  replay(thread, cpu, [&](const Instant &now) {
    const std::string why = disagreement(now, thread);
    if (!why.empty() && ++wrong <= 5)
      ADD_FAILURE() << "at " << now.time << " ns: " << why;
  });
  EXPECT_EQ(wrong, 0u) << "instants";
}

} // namespace ovnitrace::test
