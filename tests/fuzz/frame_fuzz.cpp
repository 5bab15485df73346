// SPDX-License-Identifier: BSD-2-Clause
// FrameReader with any bytes as a file, FrameCompressor with any bytes as a chunk, and differences
// in place of its times.
// Covers: emulator/format/frame_reader.cpp emulator/format/chunk_times.cpp
#include "emulator/base/unique_fd.h"
#include "emulator/format/chunk_frame.h"
#include "emulator/format/chunk_times.h"
#include "emulator/format/frame_reader.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

/// Reads the file to its end, at most `most` bytes: a small frame can hold endless zeros.
std::vector<char> read_all(int fd, uint64_t size, size_t most, bool &fault) {
  ovnitrace::FrameReader reader(fd, size);
  std::vector<char> out;
  char part[4096];
  for (bool more = true; more && out.size() < most;) {
    const size_t got = reader.read(part, sizeof part);
    out.insert(out.end(), part, part + got);
    const bool faulty = !reader.take_fault().empty();
    fault |= faulty;
    more = got == sizeof part || faulty;
  }
  return out;
}

void write_all(int fd, const void *bytes, size_t size) {
  if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, size, 0) != ssize_t(size))
    abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const int fd = memfd_create("fuzz", MFD_CLOEXEC);
  static ovnitrace::FrameCompressor compressor(1);
  bool fault = false;
  write_all(fd, data, size);
  read_all(fd, size, 1 << 20, fault);

  const auto frame = compressor.compress(data, size);
  write_all(fd, frame.data(), frame.size());
  fault = false;
  const std::vector<char> back = read_all(fd, frame.size(), SIZE_MAX, fault);
  if (fault || back.size() != size || (size && memcmp(back.data(), data, size) != 0))
    abort();

  std::vector<ftrace_record> records(size / sizeof(ftrace_record));
  if (!records.empty())
    memcpy(records.data(), data, records.size() * sizeof(ftrace_record));
  if (ovnitrace::make_differences(records)) {
    ovnitrace::TimeRestorer().restore(records);
    if (memcmp(records.data(), data, records.size() * sizeof(ftrace_record)) != 0)
      abort();
  }
  return 0;
}
