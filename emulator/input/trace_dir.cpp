// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/trace_dir.h"

#include "emulator/base/error.h"
#include "emulator/base/small_file.h"
#include "emulator/base/to_number.h"
#include "emulator/input/trace_parts.h"

#include <ovnitrace/ftrace_record.h>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace ovnitrace {

namespace {

struct CloseDir {
  void operator()(DIR *dir) const { closedir(dir); }
};

/// The smallest file that can hold a record, in bytes. A compressed record takes more than one
/// byte, too.
constexpr uint64_t kSmallestFile = sizeof(ftrace_record);

/// Returns the CPU of a chunk file by its name, cpuNNNN.ftr or cpuNNNN.ftr.zst; nothing for other
/// files.
std::optional<uint16_t> cpu_of(std::string_view name) {
  constexpr std::string_view prefix = "cpu", suffix = ".ftr";
  constexpr size_t kMinDigits = 4;
  name = plain_file_name(name);
  if (!name.starts_with(prefix) || !name.ends_with(suffix) ||
      name.size() < prefix.size() + kMinDigits + suffix.size())
    return std::nullopt;
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  return to_number<uint16_t>(name);
}

struct ChunkPath {
  uint16_t cpu;
  std::string name;
};

/// Lists the chunk files of a directory by CPU. Throws Error if it cannot be read.
std::vector<ChunkPath> list_chunks(const std::string &path) {
  const std::unique_ptr<DIR, CloseDir> dir(opendir(path.c_str()));
  std::vector<ChunkPath> chunks;
  errno = dir ? 0 : errno;
  while (const dirent *entry = dir ? readdir(dir.get()) : nullptr)
    if (const std::optional<uint16_t> cpu = cpu_of(entry->d_name))
      chunks.push_back({*cpu, entry->d_name});
  if (errno)
    throw Error("cannot open the trace directory " + path + ": " + strerror(errno));
  std::sort(chunks.begin(), chunks.end(), [](const ChunkPath &a, const ChunkPath &b) {
    return a.cpu != b.cpu ? a.cpu < b.cpu : a.name < b.name;
  });
  // Where both forms are there, the compression of the one was interrupted.
  const auto has_plain = [](const ChunkPath &a, const ChunkPath &b) {
    return a.name == plain_file_name(b.name);
  };
  chunks.erase(std::unique(chunks.begin(), chunks.end(), has_plain), chunks.end());
  return chunks;
}

ChunkInput open_chunk(const std::string &name, const ChunkPath &chunk) {
  const auto fail = [&](const std::string &why) {
    return Error("cannot read " + name + ": " + why);
  };
  // A FIFO opens at once: a directory of another user must not make us wait.
  UniqueFd fd(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
  if (!fd && errno == EMFILE)
    throw fail("too many open files; raise their number with 'ulimit -n'");
  if (!fd)
    throw fail(open_failure(errno));
  struct stat status;
  if (fstat(fd.get(), &status) != 0)
    throw fail(strerror(errno));
  if (!S_ISREG(status.st_mode))
    throw fail("not a regular file");
  posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  return {.name = name,
          .fd = std::move(fd),
          .size = uint64_t(status.st_size),
          .codec = codec_of(chunk.name),
          .cpu = chunk.cpu};
}

/// Records that went into each CPU's files, by CPU; empty: not known.
using Written = decltype(TraceInfo::written);

/// Returns the CPUs that recorded something, or of which it is not known that they did not.
std::set<uint16_t> expected_cpus(const TraceInfo &info) {
  std::set<uint16_t> cpus(info.topology.begin(), info.topology.end());
  for (uint32_t cpu = 0; info.topology.empty() && cpu < info.cpus; cpu++)
    cpus.insert(uint16_t(cpu));
  if (!info.written.empty() && !info.write_failed)
    cpus.clear();
  for (const auto &[cpu, records] : info.written)
    if (records)
      cpus.insert(cpu);
  return cpus;
}

void add_counts(const TraceInfo &info, const Written &written, ChunkInput &chunk) {
  if (const auto records = written.find(chunk.cpu); records != written.end())
    chunk.written = records->second;
  if (const auto not_in_it = info.unwritten.find(chunk.cpu); not_in_it != info.unwritten.end()) {
    chunk.unwritten = not_in_it->second.records;
    chunk.unwritten_events = not_in_it->second.events;
  }
}

/// Adds the counts to the chunk files, and a missing one for each CPU of `missing` without a file.
void add_missing(const TraceInfo &info, const Written &written, std::set<uint16_t> missing,
                 HostInput &host) {
  for (ChunkInput &chunk : host.chunks) {
    missing.erase(chunk.cpu);
    add_counts(info, written, chunk);
  }
  for (const uint16_t cpu : missing) {
    ChunkInput chunk;
    chunk.name = fmt::format("{}/cpu{:04}.ftr", host.path, cpu);
    chunk.cpu = cpu;
    add_counts(info, written, chunk);
    chunk.missing = true;
    host.chunks.push_back(std::move(chunk));
  }
  std::stable_sort(host.chunks.begin(), host.chunks.end(),
                   [](const ChunkInput &a, const ChunkInput &b) { return a.cpu < b.cpu; });
}

} // namespace

bool is_trace_dir(const std::string &path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return false;
  return !list_chunks(path).empty() || access((path + "/trace.json").c_str(), F_OK) == 0;
}

std::vector<std::string> chunk_files(const std::string &path, Codec codec) {
  std::vector<std::string> names;
  for (const ChunkPath &chunk : list_chunks(path))
    if (codec_of(chunk.name) == codec)
      names.push_back(chunk.name);
  return names;
}

std::vector<ChunkInput> open_chunks(const std::string &path) {
  std::vector<ChunkInput> chunks;
  for (const ChunkPath &chunk : list_chunks(path))
    chunks.push_back(open_chunk(path + "/" + chunk.name, chunk));
  return chunks;
}

HostInput open_trace_dir(const std::string &path, const TraceInfo &info, int64_t clock_offset_ns) {
  std::vector<ChunkInput> chunks = open_chunks(path);
  const std::vector<std::string> parts =
      chunks.empty() ? trace_parts(path) : std::vector<std::string>();
  if (chunks.empty() && parts.empty())
    throw Error("the trace " + path + " has no chunk file (cpu0000.ftr, …): the capture has just " +
                "begun, or nothing could be written");
  HostInput host{.name = info.host.empty() ? path : info.host,
                 .path = path,
                 .clock_offset_ns = clock_offset_ns,
                 .info = info,
                 .chunks = {}};
  host.chunks = parts.empty() ? std::move(chunks) : join_parts(path, parts);
  uint64_t bytes = 0;
  for (const ChunkInput &chunk : host.chunks)
    bytes += chunk.size;
  if (bytes < kSmallestFile)
    throw Error("the trace " + path + " is empty: nothing was captured, or it was not written");
  const Written unknown; // info counts all parts, some of which may be gone
  const auto of_part = parts.empty() ? cpus_of_ended_part(path) : std::nullopt;
  add_missing(info, parts.empty() ? info.written : unknown, of_part.value_or(expected_cpus(info)),
              host);
  return host;
}

} // namespace ovnitrace
