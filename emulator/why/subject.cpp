// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/subject.h"

#include "emulator/base/human.h"
#include "emulator/base/printable.h"
#include "emulator/core/program_threads.h"
#include "emulator/input/command_lines.h"
#include "emulator/summary/groups.h"
#include "emulator/summary/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kMostNames = 3;

std::string last_part(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

/// Returns whether a word of a command line is this program, by any path. At most `length` bytes of
/// the word count.
bool names(std::string_view line, const std::string &program, size_t length = SIZE_MAX) {
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    if (last_part(line.substr(at, end - at)).substr(0, length) == program)
      return true;
    at = end + 1;
  }
  return false;
}

/// Returns the name of a process: that of its main thread, unless the command line shows that the
/// thread has renamed itself. Only the first 15 bytes of a program's name become a thread's name.
std::string program_of_process(const std::string &main, std::string_view line) {
  constexpr size_t kLongest = 15;
  if (names(line, main, kLongest))
    return main;
  std::string_view first = line.substr(0, line.find(' '));
  if (first.ends_with(':'))
    first.remove_suffix(1); // as in "sshd: root@pts/0", which the process has written itself
  const std::string program = last_part(first.substr(first.starts_with('-') ? 1 : 0));
  return program.empty() ? main : program;
}

/// Returns what a process executed for the longest time. `lines`: by process, then time.
std::string_view longest_line(const std::vector<CommandLine> &lines, uint32_t pid, uint64_t end) {
  std::string_view longest;
  uint64_t most = 0;
  for (auto line = lines.begin(); line != lines.end(); ++line) {
    const auto next = std::next(line);
    const uint64_t until = next != lines.end() && next->pid == pid ? next->since_ns : end;
    const uint64_t length = until - std::min(line->since_ns, until);
    if (line->pid == pid && (longest.empty() || length >= most)) {
      longest = line->text;
      most = length;
    }
  }
  return longest;
}

/// Returns the name of what was started, as its user typed it. For a launcher (env, taskset, nice),
/// returns what its process executed for the longest time. The command line of an interpreter still
/// names the script that was started.
std::string program_name(const TraceInfo &info, const Catalog &catalog) {
  const std::string started = printable_line(last_part(info.command.front()));
  const std::string_view line =
      longest_line(catalog.hosts.front().command_lines, info.program_pid, catalog.end);
  return line.empty() || names(line, started) ? started : last_part(line.substr(0, line.find(' ')));
}

/// Names of processes, with the time in which they wanted a CPU; most time first.
using NameTimes = std::vector<std::pair<std::string, uint64_t>>;

std::string shown_name(const std::string &name) {
  return name.empty() ? "a process without a name" : short_name(name);
}

/// Returns the first names and the number of others: "nginx, redis", "a, b, c and 4 others".
std::string list_of(const NameTimes &names) {
  std::string text;
  const size_t shown =
      names.size() == kMostNames + 1 ? names.size() : std::min(names.size(), kMostNames);
  for (size_t n = 0; n < shown; n++)
    text += (n ? ", " : "") + shown_name(names[n].first);
  return shown < names.size() ? text + " and " + human_count(names.size() - shown) + " others"
                              : text;
}

/// Returns the names of the processes. Sets `own` to that of process `pid`.
NameTimes names_of(const Catalog &catalog, const Explanation &why, const Subject &subject,
                   uint32_t pid, std::string &own) {
  std::map<std::string, uint64_t> time;
  const std::vector<std::string_view> lines = command_lines(catalog);
  for (const uint32_t thread : subject.threads) {
    const std::string name = program_of_process(
        process_name(catalog, catalog.threads[subject.mains[thread]]), lines[thread]);
    time[name] += why.threads[thread].running + why.threads[thread].waiting;
    if (catalog.threads[thread].pid == pid)
      own = name;
  }
  NameTimes names(time.begin(), time.end());
  std::stable_sort(names.begin(), names.end(),
                   [](const auto &a, const auto &b) { return a.second > b.second; });
  return names;
}

/// Returns ", mostly NAME" if most of the time is that of processes with another name than the
/// started one has, as with mpirun or make.
std::string mostly(const NameTimes &names, const std::string &started) {
  uint64_t all = 0;
  for (const auto &[name, ns] : names)
    all += ns;
  const auto &[most, ns] = names.front();
  return ns * 2 > all && most != started ? ", mostly " + shown_name(most) : "";
}

/// Returns whether these are all processes of the started program.
bool is_program(const TraceInfo &info, const Catalog &catalog, const Explanation &why,
                const std::set<std::pair<uint32_t, uint32_t>> &processes) {
  const std::vector<uint32_t> pids = program_pids(info, catalog);
  for (uint32_t t = 0; t < why.shown.size(); t++)
    if (!why.shown[t] && std::count(pids.begin(), pids.end(), catalog.threads[t].pid))
      return false;
  return !pids.empty() && catalog.hosts.size() == 1 && processes.size() == pids.size();
}

} // namespace

Subject subject_of(const TraceInfo &info, const Catalog &catalog, const Explanation &why) {
  Subject subject;
  std::set<std::pair<uint32_t, uint32_t>> processes; // host, pid
  for (uint32_t t = 0; t < why.shown.size(); t++)
    if (why.shown[t]) {
      subject.threads.push_back(t);
      processes.emplace(catalog.threads[t].host, catalog.threads[t].pid);
    }
  if (subject.threads.empty())
    return subject;
  if (subject.threads.size() == 1) {
    subject.name = thread_label(catalog.threads[subject.threads.front()]);
    return subject;
  }
  subject.is_machine =
      std::all_of(why.shown.begin(), why.shown.end(), [](uint8_t is) { return is; }) &&
      std::all_of(catalog.hosts.begin(), catalog.hosts.end(),
                  [](const HostInfo &host) { return host.all_threads; });
  const std::string count = human_count(subject.threads.size(), "thread", "threads");
  subject.mains = main_threads(catalog);
  std::string own, other;
  const NameTimes names = names_of(catalog, why, subject, info.program_pid, own);
  if (is_program(info, catalog, why, processes)) {
    subject.name = program_name(info, catalog);
    other = mostly(names, own);
  } else {
    subject.name = list_of(names);
    subject.programs = subject.is_machine ? 1 : names.size();
  }
  if (processes.size() > 1)
    subject.count =
        " (" + count + " of " + human_count(processes.size(), "process", "processes") + other + ")";
  else
    subject.count = fmt::format(" ({}, {})", processes.begin()->second, count);
  return subject;
}

} // namespace ovnitrace
