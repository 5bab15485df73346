// SPDX-License-Identifier: BSD-2-Clause
// Feeds AddressNames with any bytes: as /tmp/perf-PID.map of this process, which any JIT compiler
// writes, or, behind a first byte 'k', as /proc/kallsyms.
// Covers: user/stacks/address_names.cpp
#include "emulator/base/unique_fd.h"
#include "tests/fuzz/require.h"
#include "user/stacks/address_names.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

using namespace ovnitrace;

void fill(int fd, std::string_view bytes) {
  require(ftruncate(fd, 0) == 0);
  require(pwrite(fd, bytes.data(), bytes.size(), 0) == ssize_t(bytes.size()));
  require(lseek(fd, 0, SEEK_SET) == 0);
}

AddressNames names_of(std::string_view bytes) {
  if (bytes.starts_with('k')) {
    static const int kallsyms = memfd_create("kallsyms", MFD_CLOEXEC);
    fill(kallsyms, bytes.substr(1));
    return AddressNames::of_kernel(kallsyms);
  }
  // Removed at the end: a name that was free, so nobody's.
  static const struct Map {
    std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
    UniqueFd fd{open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    ~Map() { unlink(path.c_str()); }
  } map;
  fill(map.fd.get(), bytes);
  uint64_t most = UINT64_MAX;
  return AddressNames::of_process(uint32_t(getpid()), 0, most);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char *>(data), size);
  const AddressNames names = names_of(bytes);
  size_t found = 0;
  const auto look = [&](uint64_t address) {
    const AddressNames::Function function = names.find(address);
    require(function.offset <= address);
    require(function.name.empty() || bytes.find(function.name) != bytes.npos);
    require(function.module.empty() || bytes.find(function.module) != bytes.npos);
    found += !function.name.empty();
  };
  for (uint64_t address : {uint64_t(0), uint64_t(1), UINT64_MAX})
    look(address);
  for (size_t at = 0; at < bytes.size(); at++)
    if (at == 0 || bytes[at - 1] == '\n' || bytes[at - 1] == 'k')
      look(std::strtoull(std::string(bytes.substr(at, 17)).c_str(), nullptr, 16));
  require(found == 0 || !names.empty());
  return 0;
}
