// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/shark/shark_file.h"

#include "emulator/base/error.h"
#include "emulator/base/small_file.h"
#include "emulator/input/merge.h"
#include "emulator/shark/shark_source.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ovnitrace::shark {

namespace {

/// A file of a trace directory, named alone: its chunks can be read without the others.
std::unique_ptr<EventSource> open_chunk_file(SharkFile file, uint64_t size, DiagnosticSink &sink) {
  NodeInput node{.name = file.name, .chunks = {}};
  node.chunks.push_back({.name = file.name, .fd = std::move(file.fd), .size = size});
  std::vector<NodeInput> nodes;
  nodes.push_back(std::move(node));
  return std::make_unique<MergedTrace>(std::move(nodes), sink);
}

} // namespace

bool is_plain_file(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

std::unique_ptr<EventSource> open_shark_file(const std::string &path, DiagnosticSink &sink) {
  const auto fail = [&](const std::string &why) {
    return Error("cannot read " + path + " as an FTrace file: " + why);
  };
  SharkFile file{.name = path, .fd = UniqueFd(), .index = {}};
  file.fd = UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
  struct stat status;
  if (!file.fd || fstat(file.fd.get(), &status) != 0)
    throw fail(open_failure(errno));
  file.index = make_run_index(file.fd.get(), uint64_t(status.st_size));
  const RunIndex &index = file.index;
  if (index.error)
    throw fail(strerror(index.error));
  if (index.has_chunks)
    return open_chunk_file(std::move(file), uint64_t(status.st_size), sink);
  if (index.unknown > index.records)
    throw fail("" + std::to_string(index.unknown) + " of its " +
               std::to_string(index.unknown + index.records) +
               " records have a code that FTrace does not have");
  if (index.records == 0)
    throw fail("it has no event: nothing was logged, or its chunks were not sent");
  return std::make_unique<SharkSource>(std::move(file), sink);
}

} // namespace ovnitrace::shark
