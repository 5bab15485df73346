// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/shark/shark_file.h"

#include "emulator/base/error.h"
#include "emulator/base/small_file.h"
#include "emulator/format/frame_reader.h"
#include "emulator/input/merge.h"
#include "emulator/shark/shark_source.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

namespace ovnitrace::shark {

namespace {

/// Opens a file of a trace directory, named alone: its chunks can be read without the others.
std::unique_ptr<EventSource> open_chunk_file(SharkFile file, uint64_t size, Codec codec,
                                             DiagnosticSink &sink) {
  HostInput host{.name = file.name, .chunks = {}};
  host.chunks.push_back(
      {.name = file.name, .fd = std::move(file.fd), .size = size, .codec = codec});
  std::vector<HostInput> hosts;
  hosts.push_back(std::move(host));
  return std::make_unique<MergedTrace>(std::move(hosts), sink);
}

} // namespace

bool is_plain_file(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

std::unique_ptr<EventSource> open_shark_files(const std::vector<std::string> &paths,
                                              DiagnosticSink &sink) {
  if (paths.size() > UINT16_MAX)
    throw UsageError("cannot read " + std::to_string(paths.size()) +
                     " FTrace files at once: at most " + std::to_string(UINT16_MAX));
  std::vector<SharkFile> files;
  std::set<std::pair<dev_t, ino_t>> known;
  uint64_t records = 0;
  for (const std::string &path : paths) {
    const auto fail = [&](const std::string &why) {
      return Error("cannot read " + path + " as an FTrace file: " + why);
    };
    SharkFile file{.name = path, .fd = UniqueFd(), .index = {}};
    file.fd =
        UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
    struct stat status;
    if (!file.fd || fstat(file.fd.get(), &status) != 0)
      throw fail(open_failure(errno));
    if (!known.emplace(status.st_dev, status.st_ino).second)
      throw fail("it was named before");
    if (paths.size() == 1 && FrameReader::is_at_start(file.fd.get()))
      return open_chunk_file(std::move(file), uint64_t(status.st_size), Codec::zstd, sink);
    file.index = make_run_index(file.fd.get(), uint64_t(status.st_size));
    const RunIndex &index = file.index;
    if (index.error)
      throw fail(strerror(index.error));
    if (index.has_chunks && paths.size() == 1)
      return open_chunk_file(std::move(file), uint64_t(status.st_size), Codec::none, sink);
    if (index.has_chunks)
      throw fail("it is of a trace directory; name that, or the file alone");
    if (index.unknown && !index.records)
      throw Error(path + " is no trace: name the directory that ovnitrace wrote");
    if (index.unknown > index.records)
      throw fail(std::to_string(index.unknown) + " of its " +
                 std::to_string(index.unknown + index.records) +
                 " records have a code that FTrace does not have");
    records += index.records;
    files.push_back(std::move(file));
  }
  if (records == 0)
    throw Error(
        "cannot read " + paths.front() +
        " as an FTrace file: it has no event: nothing was logged, or its chunks were not sent");
  return std::make_unique<SharkSource>(std::move(files), sink);
}

} // namespace ovnitrace::shark
