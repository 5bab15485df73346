// SPDX-License-Identifier: BSD-2-Clause
// Feeds the readers of a hostile program's names. demangle() gets any bytes as a symbol. ElfSymbols
// and CallFrames get them as a file, and ConfinedInput gets them as a child's answer.
// Covers: emulator/symbols
#include "emulator/base/confined.h"
#include "emulator/base/regular_file.h"
#include "emulator/base/unique_fd.h"
#include "emulator/symbols/call_frames.h"
#include "emulator/symbols/demangle.h"
#include "emulator/symbols/elf_symbols.h"

#include <ovnitrace/unwind.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using namespace ovnitrace;

constexpr size_t kLongest = 4096, kMostFunctions = 65;

void check(const std::string &name) {
  if (name.size() > kLongest)
    abort();
}

/// Short: symbols that take endless time are for a child process.
void demangle_it(const std::string &symbol) {
  for (const std::string &start : {std::string(), std::string("_Z"), std::string("_R")}) {
    check(demangle(start + symbol.substr(0, 64)));
    check(demangle(start + symbol.substr(0, 64), Demangled::signature));
  }
}

/// A walk by any of the rules goes up.
void read_call_frames(const std::string &path) {
  const auto frames = CallFrames::open(open_regular(path));
  for (uint64_t offset = 0; frames && offset < 0x2000; offset += 0x10)
    for (const auto step : {unwind_step_x86, unwind_step_arm64}) {
      unwind_state state = {.pc = 1,
                            .sp = 0x1000,
                            .bp = 0x1000,
                            .link = 0,
                            .highest = 0xffffffffffff,
                            .exact = 0,
                            .has_bp = 0,
                            .sp_is_low = 0,
                            .unused = 0};
      const auto read = [](void *, __u64, __u64 *to) {
        *to = 0x2000;
        return 0l;
      };
      const uint64_t rule = frames->rule_at(offset, offset & 0x10);
      if (rule == UNWIND_UNKNOWN || (!step(rule, &state, read, nullptr) && state.sp <= 0x1000))
        abort();
    }
}

void read_symbols(const std::string &bytes) {
  const UniqueFd file(memfd_create("fuzz", MFD_CLOEXEC));
  if (write(file.get(), bytes.data(), bytes.size()) != ssize_t(bytes.size()))
    abort();
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  read_call_frames(path);
  const auto symbols = ElfSymbols::open(path, "");
  for (uint64_t offset = 0; symbols && offset < 0x2000; offset += 0x100) {
    const uint64_t address = symbols->address_of(offset).value_or(offset);
    const size_t count = symbols->at(address).size();
    if (count == 0 || count > kMostFunctions)
      abort();
  }
}

void read_answer(const std::string &bytes) {
  int ends[2];
  if (bytes.size() > 32 << 10 || pipe(ends) != 0)
    return;
  const UniqueFd from(ends[0]);
  {
    const UniqueFd to(ends[1]);
    if (write(to.get(), bytes.data(), bytes.size()) != ssize_t(bytes.size()))
      abort();
  }
  ConfinedInput in(from.get());
  while (in.good()) {
    if (in.number(100) > 100)
      abort();
    check(in.text(kLongest));
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  const std::string bytes(reinterpret_cast<const char *>(data) + 1, size - 1);
  if (data[0] == 'd')
    demangle_it(bytes);
  else if (data[0] == 'a')
    read_answer(bytes);
  else
    read_symbols(bytes);
  return 0;
}
