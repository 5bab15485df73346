// SPDX-License-Identifier: BSD-2-Clause
// Any bytes as the chunk files of a host: catalog, merge and dump must survive them.
// Covers: emulator/input/chunk_file.cpp emulator/input/merge.cpp emulator/dump
#include "emulator/base/error.h"
#include "emulator/dump/dump_line.h"
#include "emulator/input/merge.h"
#include "tests/fuzz/require.h"

#include <sys/mman.h>

namespace {

using namespace ovnitrace;

ChunkInput chunk_of(const uint8_t *data, size_t size) {
  UniqueFd fd(memfd_create("chunk", MFD_CLOEXEC));
  require(write(fd.get(), data, size) == ssize_t(size));
  return {.name = "chunk", .fd = std::move(fd), .size = size};
}

} // namespace

/// The first byte says where the rest is divided into two files.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1)
    return 0;
  const size_t first = (size - 1) * data[0] / 255;
  HostInput host{.name = "host", .chunks = {}};
  host.chunks.push_back(chunk_of(data + 1, first));
  host.chunks.push_back(chunk_of(data + 1 + first, size - 1 - first));
  std::vector<HostInput> hosts;
  hosts.push_back(std::move(host));
  NoDiagnostics sink;
  try {
    MergedTrace trace(std::move(hosts), sink);
    const Catalog &catalog = trace.catalog();
    const DumpLine line(catalog);
    char buffer[DumpLine::kMaxBytes];
    uint64_t time = 0;
    for (Event event; trace.next(event);) {
      require(event.time >= time && event.time <= catalog.end);
      time = event.time;
      require(event.cpu < catalog.cpus.size());
      require(event.thread == kNone || event.thread < catalog.threads.size());
      require(event.peer == kNone || event.peer < catalog.threads.size());
      require(line.put(buffer, event) < buffer + sizeof buffer);
    }
  } catch (const Error &) { // of a newer version
  }
  return 0;
}
