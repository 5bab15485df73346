// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/suggestions.h"

#include "emulator/base/comma_list.h"
#include "emulator/base/living_processes.h"
#include "emulator/base/printable.h"
#include "emulator/cli/app.h"
#include "emulator/cli/trace_time.h"
#include "emulator/open/open_trace.h"

#include <pwd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>

namespace ovnitrace {

namespace {

/// A word of Option::values() that stands for a kind.
struct KindName {
  std::string_view name;
  ValueKind kind;
};
constexpr KindName kKinds[] = {
    {kTracePids, ValueKind::trace_pid},
    {kTraceTids, ValueKind::trace_tid},
    {kTraceComms, ValueKind::trace_comm},
    {kTraceCpus, ValueKind::trace_cpu},
    {kTraceMarks, ValueKind::trace_mark},
    {kProcesses, ValueKind::process},
    {kUsers, ValueKind::user},
};

/// Returns what lists of the option's checks have in braces, each without them.
std::vector<std::string> lists_of(const CLI::Option &option) {
  const std::string type = option.get_type_name();
  std::vector<std::string> lists;
  for (size_t at = 0; (at = type.find(":{", at)) != type.npos;) {
    const size_t end = std::min(type.find('}', at), type.size());
    lists.push_back(type.substr(at + 2, end - at - 2));
    at = end;
  }
  return lists;
}

std::vector<std::string> words_in(const std::string &list) {
  std::vector<std::string> words;
  for (const std::string &word : comma_list(list))
    if (const size_t start = word.find_first_not_of(' '); start != word.npos)
      words.push_back(word.substr(start));
  return words;
}

std::vector<Suggestion> processes() {
  std::vector<Suggestion> found;
  std::error_code ignored;
  for (const uint32_t process : living_processes(ignored)) {
    const std::string pid = std::to_string(process);
    std::string name;
    std::ifstream in("/proc/" + pid + "/comm");
    if (std::getline(in, name)) {
      found.push_back({pid, name});
      found.push_back({name, pid});
    }
  }
  return found;
}

std::vector<Suggestion> users() {
  std::vector<Suggestion> found;
  setpwent();
  while (const passwd *user = getpwent())
    found.push_back({user->pw_name, user->pw_gecos ? user->pw_gecos : ""});
  endpwent();
  return found;
}

/// Adds each value of that kind that the trace has, once.
void add_of_trace(ValueKind kind, const Catalog &catalog, std::vector<Suggestion> &all) {
  std::set<std::string> known;
  const auto add = [&](const std::string &word, const std::string &what) {
    if (!word.empty() && known.insert(word).second)
      all.push_back({word, what});
  };
  if (kind == ValueKind::trace_cpu)
    for (const CpuInfo &cpu : catalog.cpus)
      add(std::to_string(cpu.index), "");
  if (kind == ValueKind::trace_mark)
    for (const HostInfo &host : catalog.hosts)
      for (const CaptureMark &mark : host.marks)
        add(std::string(kMarkPrefix) + mark.text, "");
  for (const ThreadInfo &thread : catalog.threads)
    if (kind == ValueKind::trace_tid)
      add(std::to_string(thread.tid), thread.name);
    else if (kind == ValueKind::trace_pid)
      add(std::to_string(thread.pid), thread.name); // the main thread is the first
    else if (kind == ValueKind::trace_comm)
      add(thread.name, "");
}

} // namespace

ValueKind value_kind(const CLI::Option &option) {
  for (const std::string &list : lists_of(option))
    for (const KindName &known : kKinds)
      if (list == known.name)
        return known.kind;
  const std::string type = option.get_type_name();
  if (option.get_positional() && option.get_name() == "TRACE")
    return ValueKind::file;
  if (type.starts_with("FILE") || type.starts_with("PATH"))
    return ValueKind::file;
  return type.starts_with("DIR") ? ValueKind::directory : ValueKind::other;
}

std::vector<std::string> value_words(const CLI::Option &option) {
  std::vector<std::string> words;
  if (value_kind(option) == ValueKind::other)
    for (const std::string &list : lists_of(option))
      for (std::string &word : words_in(list))
        words.push_back(std::move(word));
  return words;
}

std::vector<Suggestion> suggestions(ValueKind kind, const std::vector<std::string> &traces) {
  if (kind == ValueKind::process)
    return processes();
  if (kind == ValueKind::user)
    return users();
  std::vector<Suggestion> all;
  if (kind == ValueKind::other || kind == ValueKind::file || kind == ValueKind::directory)
    return all;
  for (const std::string &trace : traces)
    try {
      NoDiagnostics nobody;
      add_of_trace(kind, open_trace({{trace}}, nobody)->catalog(), all);
    } catch (const std::exception &) { // it is no trace
    }
  return all;
}

} // namespace ovnitrace
