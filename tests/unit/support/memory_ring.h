// SPDX-License-Identifier: BSD-2-Clause
// A BPF ring buffer in a file in memory, with the layout of kernel/bpf/ringbuf.c.
#pragma once

#include "emulator/base/unique_fd.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace ovnitrace::test {

class MemoryRing {
public:
  explicit MemoryRing(size_t bytes) : bytes_(bytes), file_(memfd_create("ring", MFD_CLOEXEC)) {
    void *memory = MAP_FAILED;
    if (ftruncate(file_.get(), off_t(2 * page_ + 2 * bytes)) == 0)
      memory = mmap(nullptr, 2 * page_ + 2 * bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file(), 0);
    if (memory == MAP_FAILED)
      throw std::runtime_error("no memory for a ring");
    memory_ = static_cast<char *>(memory);
  }
  ~MemoryRing() { munmap(memory_, 2 * page_ + 2 * bytes_); }
  MemoryRing(const MemoryRing &) = delete;
  MemoryRing &operator=(const MemoryRing &) = delete;

  int file() const { return file_.get(); }
  uint64_t &consumer() { return *reinterpret_cast<uint64_t *>(memory_); }
  uint64_t &producer() { return *reinterpret_cast<uint64_t *>(memory_ + page_); }

  /// As the kernel does; the data is mapped twice in a row, here it is written twice.
  void produce(const std::string &message, uint32_t flags = 0) {
    std::string bytes(8, 0);
    const uint32_t length = uint32_t(message.size()) | flags;
    std::memcpy(bytes.data(), &length, 4);
    bytes += message;
    bytes.resize((bytes.size() + 7) & ~size_t(7));
    for (size_t n = 0; n < bytes.size(); n++) {
      const size_t at = (producer() + n) % bytes_;
      memory_[2 * page_ + at] = memory_[2 * page_ + bytes_ + at] = bytes[n];
    }
    producer() += bytes.size();
  }
  template <class Message> void produce_value(const Message &message, uint32_t flags = 0) {
    produce(std::string(reinterpret_cast<const char *>(&message), sizeof message), flags);
  }

private:
  const size_t page_ = size_t(sysconf(_SC_PAGESIZE));
  const size_t bytes_;
  const UniqueFd file_;
  char *memory_ = nullptr;
};

} // namespace ovnitrace::test
