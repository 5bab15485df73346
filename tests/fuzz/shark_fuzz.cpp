// SPDX-License-Identifier: BSD-2-Clause
// Any bytes as a plain FTrace file of S.Ha.R.K.: index, merge, tasks, dump and all models must
// survive them.
// Covers: emulator/shark
#include "emulator/core/replay.h"
#include "emulator/dump/dump_line.h"
#include "emulator/models/registry.h"
#include "emulator/models/user_thread.h"
#include "emulator/shark/shark_source.h"
#include "tests/fuzz/require.h"

#include <sys/mman.h>

#include <cstdlib>

namespace {

using namespace ovnitrace;

/// Lines must be as a PrvWriter wants them: times never go back.
class CheckingRows final : public RowSink {
public:
  void line(uint64_t time, uint32_t, uint32_t, std::span<const TypedValue>) override {
    check(time);
  }
  void punctual(uint64_t time, uint32_t, const TypedValue &) override { check(time); }
  void arrow(uint64_t, uint32_t from, uint32_t to, uint64_t, uint32_t) override {
    require(from != to);
  }
  void begin_instant() { floor_ = last_; }

private:
  void check(uint64_t time) {
    require(time >= floor_);
    last_ = time > last_ ? time : last_;
  }
  uint64_t floor_ = 0, last_ = 0;
};

shark::SharkFile file_of(const uint8_t *data, size_t size) {
  shark::SharkFile file{
      .name = "file", .fd = UniqueFd(memfd_create("file", MFD_CLOEXEC)), .index = {}};
  require(write(file.fd.get(), data, size) == ssize_t(size));
  file.index = shark::make_run_index(file.fd.get(), size);
  return file;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  NoDiagnostics sink;
  std::vector<shark::SharkFile> files;
  const size_t first = size % 2 ? size / 32 * 16 : size; // of two files of one tracer, or of one
  files.push_back(file_of(data, first));
  if (first < size)
    files.push_back(file_of(data + first, size - first));
  shark::SharkSource source(std::move(files), sink);
  const Catalog &catalog = source.catalog();
  const DumpLine line(catalog);
  Replay replay(catalog, builtin_models(), {}, sink, 0);
  CheckingRows threads, cpus;
  char buffer[DumpLine::kMaxBytes];
  uint64_t time = 0;
  for (Event event; source.next(event);) {
    require(event.time >= time && event.time <= catalog.end);
    if (event.time != time) {
      replay.emit(time, threads, cpus);
      threads.begin_instant();
      cpus.begin_instant();
    }
    time = event.time;
    require(event.cpu == 0 && event.offset < size);
    require(event.thread == kNone || event.thread < catalog.threads.size());
    require(event.peer == kNone || event.peer < catalog.threads.size());
    replay.handle(event);
    if (event.thread == kNone && programs_log(event.kind))
      event.thread = running_thread(replay.system(), event.cpu);
    require(line.put(buffer, event) < buffer + sizeof buffer);
  }
  return 0;
}
