// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/ovni/stream_dir.h"

#include "emulator/base/error.h"
#include "emulator/base/printable.h"
#include "emulator/base/small_file.h"
#include "emulator/ovni/clock_offsets.h"
#include "emulator/ovni/merged_meta.h"
#include "emulator/ovni/model_names.h"
#include "emulator/ovni/stream_meta.h"
#include "emulator/ovni/stream_scan.h"
#include "emulator/ovni/stream_walk.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

namespace ovnitrace::ovni {

namespace fs = std::filesystem;

namespace {

constexpr size_t kStreamsMax = 65535; ///< as many rows as Paraver loads, and as Event::file holds
constexpr size_t kBuffersTotal = 16u << 20; ///< bytes, shared by the buffers of all streams
constexpr size_t kBufferMost = 64u << 10;   ///< bytes of one
constexpr uint64_t kClockGate = 3600ull * 1000 * 1000 * 1000; ///< ns, as ovni's emulator checks it

struct Found {
  StreamPlace place;
  StreamMeta meta;
};

/// The state of the merge.
class Builder {
public:
  Builder(const std::string &root, DiagnosticSink &sink) : root_(root), sink_(sink) {}

  StreamDir build(const std::string &clock_offsets);

private:
  void warn(const std::string &file, const std::string &what, uint64_t offset = 0) {
    sink_.report({file, offset, {}, printable_line(what)});
  }
  void find();
  void add(StreamPlace place);
  void order();
  void make_threads();
  void check_processes();
  void check_models(const StreamScan &scan, const std::string &name);
  void make_cpus();
  void declare_cpu(const Found &found, uint32_t index, uint32_t phyid);
  void make_marks(const Found &found);
  ClockOffsets read_offsets(const std::string &file);
  void make_streams(const ClockOffsets &offsets);
  void scan(Stream &stream, const Found &found);
  void check_clocks();

  const std::string &root_;
  DiagnosticSink &sink_;
  std::vector<Found> found_;
  std::map<std::tuple<std::string, int32_t, int32_t>, std::string> threads_; ///< their stream.json
  std::vector<LoomCpus> looms_;
  std::vector<uint64_t> starts_; ///< ns, of streams with events
  StreamDir dir_;
};

std::string shown_file(const StreamPlace &place, const char *file) {
  return printable_line((fs::path(place.shown) / file).lexically_normal().string());
}

void Builder::find() {
  std::vector<std::string> unreadable;
  auto places = find_streams(root_, unreadable);
  for (const std::string &what : unreadable)
    warn(root_, "cannot be read: " + what);
  if (places.empty())
    throw Error(root_ + ": holds no ovni stream (no loom.*/proc.*/thread.*/stream.json below it)");
  if (places.size() > kStreamsMax)
    throw Error(root_ + ": holds " + std::to_string(places.size()) + " streams, at most " +
                std::to_string(kStreamsMax) + " can be shown: convert one loom or process of it");
  for (StreamPlace &place : places)
    add(std::move(place));
  if (found_.empty())
    throw Error(root_ + ": none of its streams says to which thread it belongs");
}

void Builder::add(StreamPlace place) {
  const std::string json = shown_file(place, "stream.json");
  std::vector<std::string> problems;
  std::optional<StreamMeta> meta;
  if (place.has_meta)
    meta = read_stream_meta(place.path + "/stream.json", problems);
  else
    problems.push_back("is missing");
  const bool from_place = !meta;
  if (!meta)
    meta.emplace();
  if (!meta->is_thread) {
    warn(json, "ovni.part is not \"thread\": the stream is left out");
    return;
  }

  const PlaceIdentity identity = identity_of(place.path);
  if (meta->loom.empty())
    meta->loom = printable_line(identity.loom);
  if (!meta->pid)
    meta->pid = identity.pid;
  if (!meta->tid)
    meta->tid = identity.tid;
  const bool known = meta->pid && meta->tid && !meta->loom.empty();
  if (from_place && known)
    problems.back() += ": the thread is taken from the name of its directory";
  for (const std::string &problem : problems)
    warn(json, problem);
  if (!known) {
    warn(json, "the thread, its process or its loom is not known: the stream is left out");
    return;
  }
  const auto [first, is_new] =
      threads_.try_emplace(std::tuple(meta->loom, meta->pid, meta->tid), json);
  if (!is_new) {
    warn(json, "is of the same thread as " + first->second + ": left out");
    return;
  }
  if (!place.has_events)
    warn(shown_file(place, "stream.obs"), "is missing: the thread has no events");
  found_.push_back({std::move(place), std::move(*meta)});
}

/// Orders looms by name and processes by pid. If every loom has MPI ranks, orders both by rank, as
/// ovni's emulator orders its rows. In a process, the main thread is first; others are by birth and
/// tid.
void Builder::order() {
  std::map<std::string, int32_t> rank; // lowest of the loom
  for (const Found &f : found_)
    if (f.meta.rank) {
      const auto [entry, is_new] = rank.emplace(f.meta.loom, *f.meta.rank);
      entry->second = std::min(entry->second, *f.meta.rank);
    }
  const bool by_rank = std::all_of(found_.begin(), found_.end(),
                                   [&](const Found &f) { return rank.contains(f.meta.loom); });
  // The rank of a process is only in one of its streams.
  std::map<std::pair<std::string, int32_t>, int32_t> process_rank;
  for (const Found &f : found_)
    if (f.meta.rank)
      process_rank.emplace(std::pair(f.meta.loom, f.meta.pid), *f.meta.rank);

  const auto key = [&](const Found &f) {
    const StreamMeta &m = f.meta;
    const auto own = process_rank.find({m.loom, m.pid});
    return std::tuple(by_rank ? rank[m.loom] : 0, std::string_view(m.loom),
                      own == process_rank.end() ? 0 : own->second, m.pid, m.tid != m.pid, m.birth,
                      m.tid);
  };
  std::stable_sort(found_.begin(), found_.end(),
                   [&](const Found &a, const Found &b) { return key(a) < key(b); });
}

/// Checks that the streams of a process agree. Either all processes of a loom have ranks, or none.
void Builder::check_processes() {
  struct Process {
    std::optional<int32_t> app_id, rank, nranks;
    const Found *first = nullptr;
  };
  std::map<std::string, std::map<int32_t, Process>> looms;
  const auto agree = [&](const Found &found, const char *key, auto &known, const auto &value) {
    if (value && known && *known != *value)
      warn(shown_file(found.place, "stream.json"),
           std::string("ovni.") + key + " differs from that of another thread of the process");
    else if (value)
      known = value;
  };
  for (const Found &f : found_) {
    Process &process = looms[f.meta.loom][f.meta.pid];
    process.first = process.first ? process.first : &f;
    agree(f, "app_id", process.app_id, f.meta.app_id);
    agree(f, "rank", process.rank, f.meta.rank);
    agree(f, "nranks", process.nranks, f.meta.nranks);
  }
  for (const auto &[loom, processes] : looms) {
    const bool ranks = std::any_of(processes.begin(), processes.end(),
                                   [](const auto &p) { return p.second.rank.has_value(); });
    for (const auto &[pid, process] : processes) {
      const std::string json = shown_file(process.first->place, "stream.json");
      if (!process.app_id)
        warn(json, "no stream of the process has an ovni.app_id");
      if (ranks && !process.rank)
        warn(json, "the process has no ovni.rank, but others of its loom have one");
    }
  }
}

/// Reports events of models that no thread requires. If any thread requires a model, ovni takes its
/// events from all.
void Builder::check_models(const StreamScan &scan, const std::string &name) {
  for (const auto &[model_letter, offset] : scan.models) {
    const char letter = model_letter; // clang 14 captures no structured binding
    const std::string_view model = model_name(letter);
    const bool required =
        letter == 'O' || std::any_of(found_.begin(), found_.end(), [&](const Found &f) {
          return f.meta.models.contains(letter);
        });
    if (model.empty())
      warn(name, std::string("has events of the model ") + letter + ", which ovni does not have",
           offset);
    else if (!required)
      warn(name,
           "has events of the model " + std::string(model) +
               ", which no ovni.require of the trace names",
           offset);
  }
}

void Builder::make_threads() {
  Catalog &catalog = dir_.catalog;
  catalog.ovni = true;
  for (const Found &f : found_) {
    if (catalog.hosts.empty() || catalog.hosts.back().name != f.meta.loom)
      catalog.hosts.push_back({f.meta.loom});
    ThreadInfo thread;
    thread.tid = uint32_t(f.meta.tid);
    thread.pid = uint32_t(f.meta.pid);
    thread.parent = f.meta.parent;
    thread.host = uint32_t(catalog.hosts.size() - 1);
    thread.birth = f.meta.birth;
    thread.name = f.meta.name;
    catalog.threads.push_back(std::move(thread));
  }
  looms_.resize(catalog.hosts.size());
  for (size_t i = 0; i < found_.size(); ++i) {
    for (const auto &[index, phyid] : found_[i].meta.cpus)
      declare_cpu(found_[i], index, phyid);
    make_marks(found_[i]);
  }
  std::sort(catalog.marks.begin(), catalog.marks.end(),
            [](const MarkType &a, const MarkType &b) { return a.type < b.type; });
}

void Builder::declare_cpu(const Found &found, uint32_t index, uint32_t phyid) {
  const uint32_t host = dir_.catalog.threads[size_t(&found - found_.data())].host;
  if (!looms_[host].declare(index, phyid))
    warn(shown_file(found.place, "stream.json"),
         "ovni.loom_cpus gives CPU " + std::to_string(phyid) + " the index " +
             std::to_string(index) + ", which another thread contradicts: left out");
}

void Builder::make_marks(const Found &found) {
  for (const MarkType &mark : found.meta.marks)
    if (!merge_mark(dir_.catalog.marks, mark))
      warn(shown_file(found.place, "stream.json"),
           "ovni.mark." + std::to_string(mark.type) +
               " differs from that of another thread, in its title, its kind or a label");
}

ClockOffsets Builder::read_offsets(const std::string &asked) {
  constexpr size_t kTableMax = 4u << 20; // bytes
  const std::string file = asked.empty() ? root_ + "/clock-offsets.txt" : asked;
  std::error_code ignored;
  if (asked.empty() && !fs::exists(file, ignored))
    return {};
  std::string error;
  const auto text =
      read_small_file(file, kTableMax, error, asked.empty() ? Links::refuse : Links::follow);
  if (!text && !asked.empty())
    throw Error(file + ": the clock offsets cannot be read: it " + error);
  if (!text) {
    warn(file, error);
    return {};
  }
  std::vector<std::string> problems;
  ClockOffsets offsets = parse_clock_offsets(*text, problems);
  for (const auto &entry : offsets) {
    const auto is_host = [&](const HostInfo &host) {
      return host.name.substr(0, host.name.find('.')) == entry.first;
    };
    if (std::none_of(dir_.catalog.hosts.begin(), dir_.catalog.hosts.end(), is_host))
      problems.push_back("no loom is of the host " + entry.first);
  }
  for (const std::string &problem : problems)
    warn(file, problem);
  return offsets;
}

void Builder::make_streams(const ClockOffsets &offsets) {
  const size_t buffer = std::min(kBufferMost, kBuffersTotal / found_.size());
  for (size_t i = 0; i < found_.size(); ++i) {
    const Found &f = found_[i];
    dir_.catalog.files.push_back(shown_file(f.place, "stream.obs"));
    const int64_t offset = clock_offset(offsets, f.meta.loom);
    if (uint64_t &birth = dir_.catalog.threads[i].birth) // 0: not known
      birth = shift_time(birth, offset);
    if (!f.place.has_events)
      continue;
    Stream stream{StreamFile(f.place.path + "/stream.obs", buffer), uint32_t(i), uint16_t(i),
                  offset};
    scan(stream, f);
  }
}

void Builder::scan(Stream &stream, const Found &found) {
  const std::string &name = dir_.catalog.files[stream.name];
  if (const std::string problem = stream.file.start(); !problem.empty()) {
    warn(name, problem + ": the thread has no events");
    return;
  }
  const StreamScan scan = scan_stream(stream.file);
  if (!scan.problem.empty())
    warn(name, scan.problem, scan.usable_end);
  stream.file.set_end(scan.usable_end);
  stream.file.release();
  if (!scan.events)
    return;
  if (stream.offset < 0 && scan.first < 0 - uint64_t(stream.offset))
    warn(name, "its clock offset puts its first event before time 0: shown at 0");
  check_models(scan, name);

  const LoomCpus &loom = looms_[dir_.catalog.threads[stream.thread].host];
  for (const uint32_t cpu : scan.cpus)
    if (!loom.has_index(cpu)) {
      warn(name, "uses CPU index " + std::to_string(cpu) +
                     ", which no ovni.loom_cpus declares: shown as CPU " + std::to_string(cpu));
      declare_cpu(found, cpu, cpu);
    }

  Catalog &catalog = dir_.catalog;
  const uint64_t first = shift_time(scan.first, stream.offset);
  const uint64_t last = shift_time(scan.last, stream.offset);
  catalog.begin = starts_.empty() ? first : std::min(catalog.begin, first);
  catalog.end = std::max(catalog.end, last);
  starts_.push_back(first);
  dir_.streams.push_back(std::move(stream));
}

void Builder::make_cpus() {
  Catalog &catalog = dir_.catalog;
  dir_.cpu_indices.resize(looms_.size());
  for (uint32_t host = 0; host < looms_.size(); ++host) {
    for (const auto &[phyid, index] : looms_[host].index_of()) {
      catalog.cpus.push_back({phyid, host});
      CpuIndices &indices = dir_.cpu_indices[host];
      if (indices.size() <= index)
        indices.resize(index + 1, kNone);
      indices[index] = phyid;
    }
    if (dir_.cpu_indices[host].size() > looms_[host].index_of().size())
      warn(catalog.hosts[host].name, "the indices of its CPUs have gaps");
    if (looms_[host].index_of().empty())
      warn(catalog.hosts[host].name, "no stream of this loom declares a CPU");
  }
}

/// Warns if clocks differ much: the timeline would consist of gaps, and ovni refuses such streams.
void Builder::check_clocks() {
  const auto [low, high] = std::minmax_element(starts_.begin(), starts_.end());
  if (!starts_.empty() && *high - *low > kClockGate)
    warn(root_, "streams start more than an hour apart: if their hosts' clocks differ, measure the "
                "offsets with ovnisync, and put its clock-offsets.txt into the trace");
}

StreamDir Builder::build(const std::string &clock_offsets) {
  find();
  order();
  check_processes();
  make_threads();
  make_streams(read_offsets(clock_offsets));
  make_cpus();
  check_clocks();
  return std::move(dir_);
}

} // namespace

bool is_stream_dir(const std::string &path) {
  std::error_code error;
  for (fs::directory_iterator entry(path, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name == "stream.json")
      return true;
    const bool is_part =
        name.starts_with("loom.") || name.starts_with("proc.") || name.starts_with("thread.");
    std::error_code ignored;
    if (is_part && entry->is_directory(ignored))
      return true;
  }
  return false;
}

StreamDir open_stream_dir(const std::string &path, const std::string &clock_offsets,
                          DiagnosticSink &sink) {
  return Builder(path, sink).build(clock_offsets);
}

} // namespace ovnitrace::ovni
