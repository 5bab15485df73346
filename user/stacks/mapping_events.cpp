// SPDX-License-Identifier: BSD-2-Clause
#include "user/stacks/mapping_events.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "emulator/base/living_processes.h"
#include "emulator/base/messages.h"
#include "emulator/symbols/call_frames.h"
#include "user/probe/mapped_files.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kPages = 64;           ///< of a buffer: 2^n
constexpr size_t kMostBytes = 2 * 4096; ///< of a report: it has one path

size_t page_size() {
  return size_t(sysconf(_SC_PAGESIZE));
}

/// Describes an event that never happens, on one CPU: the records that come beside it are what we
/// want. It does not ask for build ids. On kernels up to 6.18 at least, this would mark the records
/// of another perf as having build ids (perf_event_mmap_output() does not take the mark back).
perf_event_attr attributes() {
  perf_event_attr attr = {};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.sample_type = PERF_SAMPLE_TIME;
  attr.sample_id_all = 1; // each report ends with its time
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.mmap = attr.mmap2 = 1;
  attr.task = 1; // forks
  attr.comm = attr.comm_exec = 1;
  return attr;
}

/// Returns a value of a report; 0 if the report ends before it.
template <class Value> Value value_at(const uint8_t *record, size_t bytes, size_t offset) {
  Value value = {};
  if (offset + sizeof(value) <= bytes)
    std::memcpy(&value, record + offset, sizeof(value));
  return value;
}

/// What PERF_RECORD_MMAP2 says after its header.
struct MapReport {
  uint32_t pid, tid;
  uint64_t start, length, offset;
  uint32_t major, minor;
  uint64_t inode, generation;
  uint32_t protection, flags;
};

/// Returns the path of a mapping. Code in no file has no path, except for the vDSO.
std::string path_of(const char *name, size_t room) {
  const std::string path(name, strnlen(name, room));
  if (path == CallFrames::kVdso)
    return path;
  return path.starts_with("/") && !path.starts_with("//") ? path : "";
}

} // namespace

MappingEvents::MappingEvents(uint32_t cpus) {
  for (uint32_t cpu = 0; cpu < cpus; cpu++) {
    perf_event_attr attr = attributes();
    const long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    Buffer buffer{UniqueFd(int(fd)), nullptr, {}};
    if (!buffer.fd && errno == ENODEV)
      continue; // not on line
    if (!buffer.fd)
      throw Error("--stacks: cannot watch what processes map: {}{}", strerror(errno),
                  errno == EACCES ? "; use sudo, or `sysctl kernel.perf_event_paranoid=2`" : "");
    buffer.memory = mmap(nullptr, (1 + kPages) * page_size(), PROT_READ | PROT_WRITE, MAP_SHARED,
                         buffer.fd.get(), 0);
    if (buffer.memory == MAP_FAILED)
      throw Error("--stacks: cannot map a buffer: {}", strerror(errno));
    buffers_.push_back(std::move(buffer));
  }
}

MappingEvents::~MappingEvents() {
  for (Buffer &buffer : buffers_)
    munmap(buffer.memory, (1 + kPages) * page_size());
}

/// Reads the reports in order of time: a process may go to another CPU between an execve and its
/// first mapping.
void MappingEvents::read(Mappings &mappings) {
  const uint64_t until = monotonic_ns();
  for (Buffer &buffer : buffers_)
    read(buffer);
  std::stable_sort(waiting_.begin(), waiting_.end(),
                   [](const Report &a, const Report &b) { return a.time < b.time; });
  size_t done = 0;
  for (; done < waiting_.size() && waiting_[done].time <= until; done++) {
    const Report &report = waiting_[done];
    if (report.kind == Report::fork)
      mappings.fork(report.pid, report.parent, report.time);
    else if (report.kind == Report::exec)
      mappings.exec(report.pid, report.time);
    else
      mappings.map(report.pid, report.time, report.start, report.end, report.offset, report.file);
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + ptrdiff_t(done));
  if (std::exchange(misses_, false))
    mappings.miss(monotonic_ns());
}

void MappingEvents::read(Buffer &buffer) {
  auto *page = static_cast<perf_event_mmap_page *>(buffer.memory);
  const uint8_t *data = static_cast<uint8_t *>(buffer.memory) + page_size();
  const size_t size = kPages * page_size();
  const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = page->data_tail;
  while (tail < head) {
    const size_t at = tail % size;
    const auto header = value_at<perf_event_header>(data, size, at); // 8 bytes, aligned
    if (header.size < sizeof(header) || header.size > head - tail)
      break;
    const uint8_t *record = data + at;
    if (at + header.size > size) {
      buffer.record.assign(data + at, data + size);
      buffer.record.insert(buffer.record.end(), data, data + (header.size - (size - at)));
      record = buffer.record.data();
    }
    take(record, header.size);
    tail += header.size;
  }
  const uint64_t before = page->data_tail;
  __atomic_store_n(&page->data_tail, head, __ATOMIC_SEQ_CST);
  // The kernel tells of a loss only with the next report, which can be late.
  misses_ |= __atomic_load_n(&page->data_head, __ATOMIC_SEQ_CST) - before > size - kMostBytes;
}

void MappingEvents::take(const uint8_t *record, size_t bytes) {
  const auto header = value_at<perf_event_header>(record, bytes, 0);
  const size_t first = sizeof(header);
  if (bytes < first + 2 * sizeof(uint64_t))
    return;
  const auto time = value_at<uint64_t>(record, bytes, bytes - sizeof(uint64_t));
  const auto pid = value_at<uint32_t>(record, bytes, first);
  if (header.type == PERF_RECORD_FORK) {
    const auto parent = value_at<uint32_t>(record, bytes, first + sizeof(uint32_t));
    if (pid != parent)
      waiting_.push_back({.kind = Report::fork, .time = time, .pid = pid, .parent = parent});
  } else if (header.type == PERF_RECORD_COMM && header.misc & PERF_RECORD_MISC_COMM_EXEC) {
    waiting_.push_back({.kind = Report::exec, .time = time, .pid = pid});
  } else if (header.type == PERF_RECORD_LOST) {
    lost_ += value_at<uint64_t>(record, bytes, first + sizeof(uint64_t));
    misses_ = true;
  } else if (header.type == PERF_RECORD_MMAP2 && bytes > first + sizeof(MapReport)) {
    const auto report = value_at<MapReport>(record, bytes, first);
    const char *name = reinterpret_cast<const char *>(record + first + sizeof(MapReport));
    waiting_.push_back({.kind = Report::map,
                        .time = time,
                        .pid = pid,
                        .start = report.start,
                        .end = report.start + report.length,
                        .offset = report.offset,
                        .file = {path_of(name, bytes - first - sizeof(MapReport)), report.inode,
                                 makedev(report.major, report.minor)}});
  }
}

void read_mappings(uint32_t pid, Mappings &mappings) {
  each_code_mapping(pid, [&](const CodeMapping &mapping) {
    mappings.map(
        pid, 0, mapping.start, mapping.end, mapping.offset,
        {path_of(mapping.path.c_str(), mapping.path.size()), mapping.inode, mapping.device});
  });
}

void read_all_mappings(Mappings &mappings) {
  std::error_code error;
  for (const uint32_t pid : living_processes(error))
    read_mappings(pid, mappings);
  if (error)
    print("warning: stacks lack names in programs that began before the capture: cannot read "
          "/proc: {}",
          error.message());
}

} // namespace ovnitrace
