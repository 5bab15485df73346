// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/fit_memory.h"

#include "emulator/base/error.h"
#include "user/select/memory_limit.h"

#include <unistd.h>

#include <optional>

namespace ovnitrace {

namespace {

// Measured, as the most that a cgroup was charged: the kernel's types while BPF programs are
// loaded, the programs and their maps, this process.
constexpr uint64_t kAlways = 112u << 20, kControl = 48u << 20, kStacks = 100u << 20,
                   kFamilies = 56u << 20;                         // bytes
constexpr uint64_t kLeastRing = 64 << 10, kLeastChunk = 16 << 10; // bytes

uint64_t needed(const RecordOptions &options, unsigned cpus) {
  const uint64_t families = (options.families & families_of_tracepoints()).bits() ? kFamilies : 0;
  const uint64_t chunks = options.buffer.kind == BufferKind::kCyc
                              ? cpus * options.buffer.bytes
                              : (cpus + options.spare_chunks) * options.chunk_bytes;
  return kAlways + (options.control.empty() ? 0 : kControl) + (options.stacks ? kStacks : 0) +
         families + cpus * options.ring_bytes + chunks;
}

uint64_t mib(uint64_t bytes) {
  return (bytes + (1 << 20) - 1) >> 20;
}

} // namespace

void fit_memory(RecordOptions &options, GivenSizes given, unsigned cpus, uint64_t left) {
  while (needed(options, cpus) > left) {
    const bool smaller_ring = !given.rings && options.ring_bytes > kLeastRing;
    const bool smaller_chunk = !given.chunks && options.chunk_bytes > kLeastChunk;
    if (!smaller_ring && !smaller_chunk)
      throw Error("this capture needs about {} MiB of memory, and the memory cgroup leaves {} MiB: "
                  "give it more, or choose a smaller --ring-size, --chunks or --buffer",
                  mib(needed(options, cpus)), left >> 20);
    options.ring_bytes = smaller_ring ? options.ring_bytes / 2 : options.ring_bytes;
    options.chunk_bytes = smaller_chunk ? options.chunk_bytes / 2 : options.chunk_bytes;
  }
}

void fit_memory(RecordOptions &options, GivenSizes given) {
  if (const std::optional<uint64_t> left = memory_left())
    fit_memory(options, given, unsigned(sysconf(_SC_NPROCESSORS_CONF)), *left);
}

} // namespace ovnitrace
