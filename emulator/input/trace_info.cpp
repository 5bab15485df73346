// SPDX-License-Identifier: BSD-2-Clause
// Parses trace.json. A file of its own, as the JSON parser is slow to compile.
#include "emulator/input/trace_info.h"
#include "emulator/base/bounded_json.h"
#include "emulator/base/comma_list.h"
#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/printable.h"
#include "emulator/format/chunk_header.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace ovnitrace {

namespace {

constexpr uint64_t kVersion = 1;
constexpr size_t kMaxChains = 255;                             // what a record can number
constexpr size_t kMostIdleStates = 10, kLongestIdleState = 16; // CPUIDLE_STATE_MAX, …_NAME_LEN
constexpr size_t kLongestCgroup = 4096;                        // bytes
constexpr size_t kMostDevices = 64, kLongestDevice = 32;       // DISK_NAME_LEN
/// The most values of a trace.json, without the lists of threads and processes, which no reader of
/// events needs.
constexpr size_t kMostTraceValues = 4 << 20;

nlohmann::json object_of(const nlohmann::json &json, const char *key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_object() ? *it : nlohmann::json::object();
}

/// Returns a list of texts, such as the arguments of a command line.
std::vector<std::string> texts_of(const nlohmann::json &json, const char *key) {
  std::vector<std::string> texts;
  for (const nlohmann::json &element : array_of(json, key))
    if (element.is_string())
      texts.push_back(printable_line(element.get<std::string>()));
  return texts;
}

/// Returns the numbers of the CPUs.
std::vector<uint16_t> topology_of(const nlohmann::json &json) {
  std::vector<uint16_t> cpus;
  for (const nlohmann::json &element : array_of(json, "topology"))
    if (element.contains("cpu") && number_of(element, "cpu") < kMostCpus)
      cpus.push_back(uint16_t(number_of(element, "cpu")));
  return cpus;
}

/// Returns the attached processes: a list, or the only one in older traces.
std::vector<uint32_t> attached_of(const nlohmann::json &json) {
  std::vector<uint32_t> pids;
  for (const nlohmann::json &pid : array_of(json, "attached_pids"))
    if (pid.is_number_unsigned() && pid.get<uint64_t>() <= UINT32_MAX)
      pids.push_back(pid.get<uint32_t>());
  const uint64_t one = number_of(json, "attached_pid");
  if (pids.empty() && one > 0 && one <= UINT32_MAX)
    pids.push_back(uint32_t(one));
  return pids;
}

uint32_t pid_of_program(const nlohmann::json &json) {
  const uint64_t pid = number_of(json, "program_pid");
  return pid <= UINT32_MAX ? uint32_t(pid) : 0;
}

/// Returns how many records the tracer wrote to the file of each CPU.
std::map<uint16_t, uint64_t> written_of(const nlohmann::json &json) {
  std::map<uint16_t, uint64_t> written;
  for (const nlohmann::json &element : array_of(json, "written")) {
    const bool complete = element.contains("cpu") && element.contains("records");
    const uint64_t cpu = number_of(element, "cpu");
    if (complete && cpu < kMostCpus)
      written[uint16_t(cpu)] = number_of(element, "records");
  }
  return written;
}

/// Returns what each CPU captured and could not write.
std::map<uint16_t, TraceInfo::Unwritten> unwritten_of(const nlohmann::json &json) {
  std::map<uint16_t, TraceInfo::Unwritten> unwritten;
  for (const nlohmann::json &element : array_of(json, "not_written"))
    if (element.contains("cpu") && number_of(element, "cpu") < kMostCpus)
      unwritten[uint16_t(number_of(element, "cpu"))] = {number_of(element, "records"),
                                                        number_of(element, "events")};
  return unwritten;
}

/// Returns a time of the trace's clock; 0 if it is missing, or if no clock can have it.
uint64_t time_of(const nlohmann::json &json, const char *key) {
  constexpr uint64_t kLatest = uint64_t(1) << 62;
  const uint64_t time = number_of(json, key);
  return time < kLatest ? time : 0;
}

std::vector<PeerName> peers_of(const nlohmann::json &json) {
  std::vector<PeerName> peers;
  for (const nlohmann::json &element : array_of(json, "peers")) {
    const uint64_t tid = number_of(element, "tid");
    const uint64_t pid = number_of(element, "pid");
    const uint64_t cgroup = number_of(element, "cgroup");
    if (tid > 0 && tid <= UINT32_MAX && pid <= UINT32_MAX)
      peers.push_back({uint32_t(tid), uint32_t(pid), number_of(element, "since_ns"),
                       text_of(element, "name"),
                       cgroup && cgroup <= kMostCgroups ? uint32_t(cgroup - 1) : kNone});
  }
  std::stable_sort(peers.begin(), peers.end(), [](const PeerName &a, const PeerName &b) {
    return std::pair(a.tid, a.since_ns) < std::pair(b.tid, b.since_ns);
  });
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, std::string_view>, size_t> first;
  for (size_t n = 0; n < peers.size(); n++) {
    const PeerName &peer = peers[n];
    const auto at = first.try_emplace({peer.tid, peer.pid, peer.cgroup, peer.name}, n).first;
    peers[n].again = uint32_t(n - at->second);
  }
  return peers;
}

std::vector<CommandLine> command_lines_of(const nlohmann::json &json) {
  std::vector<CommandLine> lines;
  for (const nlohmann::json &element : array_of(json, "command_lines")) {
    const uint64_t pid = number_of(element, "pid");
    if (pid > 0 && pid <= UINT32_MAX)
      lines.push_back({uint32_t(pid), time_of(element, "since_ns"), text_of(element, "text")});
  }
  std::stable_sort(lines.begin(), lines.end(), [](const CommandLine &a, const CommandLine &b) {
    return std::pair(a.pid, a.since_ns) < std::pair(b.pid, b.since_ns);
  });
  return lines;
}

/// Returns the names of `control.chains`, a list of `name` and `text`.
std::vector<std::string> names_of_chains(const nlohmann::json &json) {
  std::vector<std::string> names;
  const nlohmann::json control = object_of(json, "control");
  for (const nlohmann::json &chain : array_of(control, "chains")) {
    const std::string name = text_of(chain, "name");
    names.push_back(!name.empty() ? name : text_of(chain, "text"));
    if (names.size() == kMaxChains)
      break;
  }
  return names;
}

/// Returns a name reduced to characters that need no quoting anywhere.
std::string plain_name(const nlohmann::json &json, size_t longest) {
  std::string name = json.is_string() ? json.get<std::string>() : std::string();
  name.resize(std::min(name.size(), longest));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c < ' ' || c > '~' || c == '"' || c == '\\'; },
      '?');
  return name;
}

/// Returns the names by number. A name that is not a text is empty.
std::vector<std::string> names_of_idle_states(const nlohmann::json &json) {
  std::vector<std::string> names;
  for (const nlohmann::json &state : array_of(json, "idle_states")) {
    names.push_back(plain_name(state, kLongestIdleState));
    if (names.size() == kMostIdleStates)
      break;
  }
  return names;
}

std::vector<DeviceName> devices_of(const nlohmann::json &json) {
  std::vector<DeviceName> devices;
  for (const nlohmann::json &device : array_of(json, "devices")) {
    const uint64_t number = number_of(device, "device");
    if (number == 0 || number > UINT32_MAX || !device.contains("name"))
      continue;
    devices.push_back({uint32_t(number), plain_name(device["name"], kLongestDevice)});
    if (devices.size() == kMostDevices)
      break;
  }
  return devices;
}

/// Returns the paths by number less 1. One that is no text is empty.
std::vector<std::string> cgroups_of(const nlohmann::json &json) {
  std::vector<std::string> paths;
  for (const nlohmann::json &path : array_of(json, "cgroups")) {
    std::string text = path.is_string() ? path.get<std::string>() : std::string();
    paths.push_back(printable_line(text.substr(0, kLongestCgroup)));
    if (paths.size() == kMostCgroups)
      break;
  }
  return paths;
}

std::vector<CaptureMark> marks_of(const nlohmann::json &json) {
  std::vector<CaptureMark> marks;
  for (const nlohmann::json &mark : array_of(json, "marks")) {
    if (marks.size() == kMostTraceMarks)
      break;
    std::string text = text_of(mark, "text");
    if (text.empty() || text.size() > kLongestMark)
      text = fmt::format("mark {}", marks.size() + 1);
    marks.push_back({time_of(mark, "time_ns"), std::move(text)});
  }
  return marks;
}

std::string stacks_of(const nlohmann::json &json) {
  const std::string stacks = text_of(object_of(json, "options"), "stacks");
  return stacks == "none" ? "" : stacks;
}

StackCounts stack_counts_of(const nlohmann::json &json) {
  const nlohmann::json taken = object_of(json, "stacks_taken");
  StackCounts counts;
  for (const auto &[name, count] : kStackCounts)
    counts.*count = number_of(taken, name);
  return counts;
}

} // namespace

std::string StackCounts::text() const {
  std::string text =
      fmt::format("{}, {} distinct", human_count(all, "stack", "stacks"), human_count(distinct));
  if (with_program && cut + gapped == 0) {
    text += "; those of the program are complete";
  } else if (with_program) {
    const auto percent = [&](uint64_t count) {
      return 100.0 * double(count) / double(with_program);
    };
    text += fmt::format("; of the program's, {:.1f} % are complete, {:.1f} % end too early and "
                        "{:.1f} % may lack frames between others "
                        "(docs/stacks.md#incomplete-stacks says why)",
                        percent(with_program - std::min(with_program, cut + gapped)), percent(cut),
                        percent(gapped));
  }
  if (lost)
    text += fmt::format("; {} more found no room", human_count(lost));
  return text;
}

TraceInfo read_trace_info(const std::string &path, DiagnosticSink &sink) {
  const std::string name = path + "/trace.json";
  const auto warn = [&](const std::string &what) {
    sink.report(
        {.file = name, .what = what + "; the chunks are read without it", .harmless = true});
  };
  std::string why;
  nlohmann::json json;
  if (!read_json_file(name,
                      {kMaxDescriptionBytes,
                       kMostTraceValues,
                       {"processes", "threads", "stack_files", "stack_frames", "stacks"}},
                      json, why)) {
    warn(why);
    return {};
  }
  if (!json.is_object()) {
    warn("it is no JSON object");
    return {};
  }
  const uint64_t version = number_of(json, "version");
  const bool other = json.contains("format") && text_of(json, "format") != "ovnitrace";
  if (other || version == 0) {
    warn(other ? "its format is not \"ovnitrace\"" : "it has no version");
    return {};
  }
  if (version > kVersion)
    throw Error("cannot read the trace " + path + ": it is of version " + std::to_string(version) +
                ", this ovnitrace knows " + std::to_string(kVersion) + ": use a newer ovnitrace");
  TraceInfo info{.host = text_of(json, "host"),
                 .kernel = text_of(json, "kernel"),
                 .machine = text_of(json, "machine"),
                 .boot_id = text_of(json, "boot_id"),
                 .command = texts_of(json, "command"),
                 .tracer = text_of(json, "ovnitrace"),
                 .ended = text_of(object_of(json, "ended"), "how"),
                 .program_pid = pid_of_program(json),
                 .attached_pids = attached_of(json),
                 .filters = texts_of(json, "filters"),
                 .with_children = flag_of(json, "with_children", true),
                 .families = text_of(object_of(json, "options"), "families"),
                 .buffer = text_of(object_of(json, "options"), "buffer"),
                 .stacks = stacks_of(json),
                 .stack_counts = stack_counts_of(json),
                 .user = text_of(json, "user"),
                 .topology = topology_of(json),
                 .began_ns = time_of(json, "begin_ns"),
                 .end_ns = time_of(json, "end_ns"),
                 .written = written_of(json),
                 .unwritten = unwritten_of(json),
                 .write_failed = object_of(json, "ended").contains("write_error"),
                 .peers = peers_of(json),
                 .command_lines = command_lines_of(json),
                 .chains = names_of_chains(json),
                 .region_by_thread = text_of(object_of(json, "control"), "region") == "thread",
                 .idle_states = names_of_idle_states(json),
                 .devices = devices_of(json),
                 .cgroups = cgroups_of(json),
                 .marks = marks_of(json),
                 .sees_refills = flag_of(json, "sees_refills"),
                 .all_threads = flag_of(json, "all_threads"),
                 .cpu_holders = flag_of(json, "cpu_holders")};
  info.start_lost = info.write_failed && number_of(json, "forgotten") == 0;
  const nlohmann::json clock = object_of(json, "clock");
  if (const auto it = clock.find("to_wall_ns"); it != clock.end() && it->is_number_integer())
    info.to_wall_ns = it->get<int64_t>();
  const uint64_t cpus = number_of(json, "cpus");
  if (cpus > kMostCpus)
    warn("it has " + std::to_string(cpus) + " CPUs, which is impossible");
  else
    info.cpus = uint32_t(cpus);
  return info;
}

bool has_family(const TraceInfo &info, std::string_view family) {
  std::string list = info.families; // "sched, user, power"
  std::erase(list, ' ');
  const std::vector<std::string> families = comma_list(list);
  return std::find(families.begin(), families.end(), family) != families.end();
}

std::string buffer_option(const TraceInfo &info) {
  const size_t colon = info.buffer.find(':');
  const std::string kind = printable_line(info.buffer.substr(0, colon));
  std::string text = kind == "jtn" ? "disk" : kind == "cyc" ? "last" : kind;
  if (colon == std::string::npos)
    return text;
  uint64_t bytes = std::strtoull(info.buffer.c_str() + colon + 1, nullptr, 10);
  const char *unit = "";
  for (const char *larger : {"K", "M", "G"})
    if (bytes && bytes % 1024 == 0)
      bytes /= 1024, unit = larger;
  return text + fmt::format(":{}{}", bytes, unit);
}

} // namespace ovnitrace
