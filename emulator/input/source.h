// SPDX-License-Identifier: BSD-2-Clause
// Defines what every input provides: a Catalog of the trace, known before the first event unless
// the source is live, and the events, merged by time.
#pragma once

#include "emulator/format/cgroup_names.h"
#include "emulator/format/event.h"
#include "emulator/input/cgroup_history.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {

/// A name that a thread had before another one.
struct EarlierName {
  uint64_t until = 0; ///< ns
  std::string name;
};

/// A thread: one row of thread.prv. A tid that the kernel used twice is two threads.
struct ThreadInfo {
  uint32_t tid = 0;                            ///< as in the initial PID namespace
  uint32_t pid = 0;                            ///< its process (tgid)
  uint32_t parent = 0;                         ///< tid of its creator, 0 unknown
  uint32_t host = 0;                           ///< index into Catalog::hosts
  uint64_t birth = 0;                          ///< ns, 0: before the capture or unknown
  std::string name;                            ///< last known comm, empty if never given
  std::vector<EarlierName> earlier_names = {}; ///< by time; mostly none
  std::vector<SinceCgroup> cgroups = {};       ///< by time: indices into HostInfo::cgroups
  uint64_t end = UINT64_MAX; ///< ns: when it gave up its tid; UINT64_MAX: not known

  /// Returns in which cgroup the thread was at `time`, ns; kNone if no cgroup of it is known.
  uint32_t cgroup_at(uint64_t time) const {
    uint32_t cgroup = cgroups.empty() ? kNone : cgroups.front().cgroup;
    for (const SinceCgroup &change : cgroups)
      if (change.since <= time)
        cgroup = change.cgroup;
    return cgroup;
  }

  /// Returns the number of the comm that the thread had at `time`, ns. Equal names have one number,
  /// and the last name has 0.
  uint32_t name_number(uint64_t time) const;
  const std::string &numbered_name(uint32_t number) const {
    return number ? earlier_names[number - 1].name : name;
  }
  /// Returns the comm that the thread had at `time`, ns.
  const std::string &name_at(uint64_t time) const { return numbered_name(name_number(time)); }
};

struct CpuInfo {
  /// Number on its host; of a loom: its phyid (CPU payloads hold the same number).
  uint32_t index = 0;
  uint32_t host = 0; ///< index into Catalog::hosts
};

/// A name of an untraced thread that ran after a traced one, woke it or held its CPU.
struct PeerName {
  uint32_t tid = 0;
  uint32_t pid = 0;      ///< process
  uint64_t since_ns = 0; ///< when it was first seen with this name
  std::string name;
  uint32_t cgroup = kNone; ///< in which it was then: index into HostInfo::cgroups
  uint32_t again = 0; ///< how many entries before it the first one is that differs only in time
};

/// A command that a process executed.
struct CommandLine {
  uint32_t pid = 0;
  uint64_t since_ns = 0; ///< 0: before the capture
  std::string text;      ///< printable, the arguments separated by blanks
};

/// Returns the name of a thread at `time`: the last one seen until then, or else its first; nullptr
/// if `peers` does not have the tid. A thread that had a name before has the same entry again.
/// `peers`: by tid, then time.
const PeerName *find_peer(const std::vector<PeerName> &peers, uint32_t tid, uint64_t time);

/// A block device that woke threads.
struct DeviceName {
  uint32_t number = 0; ///< dev_t, as FTrace_EXT_device has it
  std::string name;    ///< the kernel's: "sda", "nvme0n1p2"
};

/// Returns the name of a device, its numbers ("8:1") if `devices` does not have it, and "I/O" for
/// number 0, which stands for any device.
std::string device_name(const std::vector<DeviceName> &devices, uint32_t number);

/// A mark that a user put into a capture by `ovnitrace ctl mark`. Its number is its place + 1.
struct CaptureMark {
  uint64_t time_ns = 0;
  std::string text; ///< printable
};

/// When the first trace_start, the first event and the last event of a host were, ns; UINT64_MAX
/// and 0 without any.
struct HostTimes {
  uint64_t start = UINT64_MAX, first = UINT64_MAX, last = 0;
};

/// One host: a trace directory, or a loom of an ovni trace.
struct HostInfo {
  std::string name;
  std::vector<PeerName> peers = {};            ///< by tid, then time
  std::vector<CommandLine> command_lines = {}; ///< by process, then time
  uint32_t program_pid = 0; ///< of the program that ovnitrace started; 0: none, or not known
  std::vector<std::string> chains = {};      ///< of --control: the name of each
  std::vector<std::string> idle_states = {}; ///< by number: the kernel's names, of plain letters
  bool all_threads = false; ///< every transition of every thread of the host was captured
  /// Otherwise: EXT_holder says who has a CPU while a traced thread waits for it.
  bool cpu_holders = false;
  bool sees_idle = false;               ///< idle states of all CPUs were captured
  std::string machine = {};             ///< architecture, as uname names it; empty: not known
  std::string boot_id = {};             ///< one for each machine and boot; empty: not known
  std::vector<DeviceName> devices = {}; ///< that woke threads
  /// FTrace_EXT_refill says when throttled threads may run again.
  bool sees_refills = false;
  std::vector<Cgroup> cgroups = {}; ///< in which threads were
  std::string stacks = {};          ///< the trace directory with its stacks; empty: there are none
  std::vector<CaptureMark> marks = {}; ///< by number
  HostTimes times = {};                ///< of chunk files
};

/// Returns the text of mark `number` of a host, or "mark NUMBER" if it is not known.
std::string mark_text(const HostInfo &host, uint32_t number);

inline constexpr uint32_t kMarkTypes = 100; ///< of ovni: types 0 to 99

/// A user mark type of an ovni stream (its PRV type is 100 + type), as stream.json declares it.
struct MarkType {
  uint32_t type = 0;  ///< below kMarkTypes
  bool stack = false; ///< pushed and popped by OM[ and OM]; false: set by OM=
  std::string title;
  std::vector<std::pair<int64_t, std::string>> labels; ///< value and its label, by value
};

/// What a trace holds. Threads are in row order: by host, process, birth, then tid, with the main
/// thread of a process first. Threads of a live source are in the order in which they were found.
/// CPUs are by host, then index.
struct Catalog {
  std::vector<HostInfo> hosts;
  std::vector<CpuInfo> cpus;
  std::vector<ThreadInfo> threads;
  std::vector<std::string> files; ///< for messages
  std::vector<MarkType> marks;    ///< ovni streams only, by type
  /// Only streams of instrumented programs: threads may run without a CPU.
  bool ovni = false;
  /// The source is live: next() adds and names threads.
  bool live = false;
  uint64_t begin = 0; ///< ns: time 0 of the PRV
  uint64_t end = 0;   ///< ns: end of the capture; UINT64_MAX until a live source ends
  int64_t date = 0;   ///< seconds since 1970, when it began; 0 not known
};

/// Returns how many CPUs the machines had. Two traces of one machine list each of its CPUs twice.
size_t cpu_count(const Catalog &catalog);

/// Something wrong in the input that does not stop the reading.
struct Diagnostic {
  std::string file;
  uint64_t offset = 0;               ///< bytes
  std::optional<uint64_t> time = {}; ///< of an event that cannot be; ns from the start of the trace
  std::string what;
  bool harmless = false; ///< nothing of the trace is missing or doubtful because of it
  uint64_t more = 0;     ///< further ones directly after it, which are only counted
};

/// Takes diagnostics as they are found, to count, print or collect them.
class DiagnosticSink {
public:
  virtual ~DiagnosticSink() = default;
  virtual void report(const Diagnostic &diagnostic) = 0;
};

/// Ignores all diagnostics.
class NoDiagnostics final : public DiagnosticSink {
public:
  void report(const Diagnostic &) override {}
};

/// Takes what a live source finds out about threads, before the events that follow. `thread`: index
/// into Catalog::threads. An index is never used twice.
class ThreadObserver {
public:
  virtual ~ThreadObserver() = default;
  /// Takes a new thread, the last one of the catalog. Arrays by thread grow now.
  virtual void on_born(uint32_t /*thread*/) {}
  /// Takes a thread whose name the catalog has changed.
  virtual void on_named(uint32_t /*thread*/) {}
  /// Takes a thread that has no further events. Its tid may belong to another one soon.
  virtual void on_ended(uint32_t /*thread*/) {}
};

/// A trace opened for reading. Opening may read the whole input once, to find the threads. Memory
/// depends on threads, CPUs and files, never on the number of events.
class EventSource {
public:
  virtual ~EventSource() = default;
  EventSource(const EventSource &) = delete;
  EventSource &operator=(const EventSource &) = delete;

  virtual const Catalog &catalog() const = 0;
  /// Reads the next event by time (equal times: by CPU index, then file order). Returns false at
  /// the end. Events before Catalog::begin only set up the states in which threads are then.
  virtual bool next(Event &event) = 0;
  /// Reports to `sink` from now on. Returns the former sink.
  DiagnosticSink &report_to(DiagnosticSink &sink) { return *std::exchange(sink_, &sink); }
  /// Passes what next() finds out about threads to `observer` from now on; nullptr: to nobody.
  void observe(ThreadObserver *observer) { observer_ = observer; }

protected:
  explicit EventSource(DiagnosticSink &sink) : sink_(&sink) {}
  /// Returns the current sink. It may change: do not keep it.
  DiagnosticSink &diagnostics() { return *sink_; }
  ThreadObserver *observer() { return observer_; }

private:
  DiagnosticSink *sink_; ///< not null
  ThreadObserver *observer_ = nullptr;
};

} // namespace ovnitrace
