// SPDX-License-Identifier: BSD-2-Clause
// Maps the values of a BPF array into memory.
#pragma once

#include "user/bpf/bpf_log.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace ovnitrace {

struct Unmap {
  size_t bytes = 0;
  void operator()(const volatile void *memory) const { munmap(const_cast<void *>(memory), bytes); }
};

template <class Value> using MappedArray = std::unique_ptr<Value[], Unmap>;

/// Maps `count` values, for writing unless they are const. `what` is tried, for the Error that it
/// throws.
template <class Value> MappedArray<Value> map_array(int map, size_t count, const char *what) {
  const size_t bytes = count * sizeof(Value);
  const int access = std::is_const_v<Value> ? PROT_READ : PROT_READ | PROT_WRITE;
  void *memory = mmap(nullptr, bytes, access, MAP_SHARED, map, 0);
  if (memory == MAP_FAILED)
    fail_bpf(what, errno);
  return MappedArray<Value>(static_cast<Value *>(memory), Unmap{bytes});
}

} // namespace ovnitrace
