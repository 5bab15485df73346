// SPDX-License-Identifier: BSD-2-Clause
// The two things that every input gives: a Catalog of what is in the trace, known before the first
// event, and the events, merged by time.
#pragma once

#include "emulator/format/event.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {

/// One thread: one row of thread.prv. A tid that the kernel used twice is two threads.
struct ThreadInfo {
  uint32_t tid = 0;    ///< as the kernel numbers it (initial PID namespace)
  uint32_t pid = 0;    ///< its process (tgid)
  uint32_t parent = 0; ///< tid of its creator, 0 unknown
  uint32_t host = 0;   ///< index into Catalog::hosts
  uint64_t birth = 0;  ///< ns, 0: before the capture or unknown
  std::string name;    ///< last known comm, empty if never given
};

struct CpuInfo {
  uint32_t index =
      0; ///< number on its host; of a loom: its phyid (CPU payloads hold the same number)
  uint32_t host = 0; ///< index into Catalog::hosts
};

/// A name of a thread that is not traced: it ran next, or woke or held one that is.
struct PeerName {
  uint32_t tid = 0;
  uint32_t pid = 0;      ///< process
  uint64_t since_ns = 0; ///< when it was first seen with this name
  std::string name;
};

/// What a process has executed.
struct CommandLine {
  uint32_t pid = 0;
  uint64_t since_ns = 0; ///< 0: before the capture
  std::string text;      ///< printable, the arguments with a blank between them
};

/// The name that a thread has at `time`: the last that it was seen with until then, or its first.
/// `peers`: by tid, then time. Null if it is none of them.
const PeerName *find_peer(const std::vector<PeerName> &peers, uint32_t tid, uint64_t time);

/// A block device that woke threads.
struct DeviceName {
  uint32_t number = 0; ///< dev_t, as FTrace_EXT_device has it
  std::string name;    ///< the kernel's: "sda", "nvme0n1p2"
};

/// Returns the name of a device, its numbers ("8:1") if `devices` does not have it, and "I/O" for
/// number 0, which stands for any device.
std::string device_name(const std::vector<DeviceName> &devices, uint32_t number);

/// One host: a trace directory, or a loom of an ovni trace.
struct HostInfo {
  std::string name;
  std::vector<PeerName> peers = {};            ///< by tid, then time
  std::vector<CommandLine> command_lines = {}; ///< by process, then time
  std::vector<std::string> chains = {};        ///< of --control: what each is called
  std::vector<std::string> idle_states = {};   ///< by number: the kernel's names, of plain letters
  bool all_threads = false; ///< every transition of every thread of the host was captured
  bool cpu_holders = false; ///< else: EXT_holder says who has a CPU for which one of them waits
  std::string machine = {}; ///< architecture, as uname names it; empty: not known
  std::vector<DeviceName> devices = {}; ///< that woke threads
  /// Records say when throttled threads may run again (FTrace_EXT_refill).
  bool sees_refills = false;
  std::string stacks = {}; ///< the trace directory that has its stacks; empty: there are none
};

/// A user mark type of an ovni stream (its PRV type is 100 + type), as stream.json declares it.
struct MarkType {
  uint32_t type = 0;  ///< 0 to 99
  bool stack = false; ///< OM[ and OM] push and pop it; otherwise OM= sets it
  std::string title;
  std::vector<std::pair<int64_t, std::string>> labels; ///< value and its label, by value
};

/// What a trace holds. Threads are in row order: by host, then process, then birth and tid, the
/// main thread of a process first. CPUs are by host, then index.
struct Catalog {
  std::vector<HostInfo> hosts;
  std::vector<CpuInfo> cpus;
  std::vector<ThreadInfo> threads;
  std::vector<std::string> files; ///< for messages
  std::vector<MarkType> marks;    ///< ovni streams only, by type
  bool ovni =
      false; ///< streams of instrumented programs: each thread ends in them, and may run on no CPU
  uint64_t begin = 0; ///< ns: time 0 of the PRV
  uint64_t end = 0;   ///< ns: end of the capture
  int64_t date = 0;   ///< seconds since 1970, when it began; 0 not known
};

/// Something wrong in the input, reported but survived.
struct Diagnostic {
  std::string file;
  uint64_t offset = 0;               ///< bytes
  std::optional<uint64_t> time = {}; ///< ns from the start of the trace, of an event that cannot be
  std::string what;
  bool harmless = false; ///< nothing of the trace is missing or doubtful for it
  uint64_t more = 0;     ///< others that followed it at once, and of which there are too many
};

/// Takes diagnostics as they are found; the caller counts, prints or collects them.
class DiagnosticSink {
public:
  virtual ~DiagnosticSink() = default;
  virtual void report(const Diagnostic &diagnostic) = 0;
};

/// Drops them.
class NoDiagnostics final : public DiagnosticSink {
public:
  void report(const Diagnostic &) override {}
};

/// Called now and then while a trace is read, with the time of the last event and how many there
/// were. May be empty.
using Progress = std::function<void(uint64_t time, uint64_t events)>;

/// A trace opened for reading. Opening may look at the whole input once (to learn the threads);
/// memory depends on threads, CPUs and files, never on the number of events.
class EventSource {
public:
  virtual ~EventSource() = default;
  EventSource(const EventSource &) = delete;
  EventSource &operator=(const EventSource &) = delete;

  virtual const Catalog &catalog() const = 0;
  /// The next event by time (equal times: by CPU index, then file order). False at the end. What is
  /// before Catalog::begin only makes the state in which threads are then.
  virtual bool next(Event &event) = 0;
  /// From now on what is wrong is reported to `sink`. Returns where it was reported to before.
  DiagnosticSink &report_to(DiagnosticSink &sink) { return *std::exchange(sink_, &sink); }

protected:
  explicit EventSource(DiagnosticSink &sink) : sink_(&sink) {}
  /// Where it is reported to now: not to be kept.
  DiagnosticSink &diagnostics() { return *sink_; }

private:
  DiagnosticSink *sink_; ///< not null
};

} // namespace ovnitrace
