// SPDX-License-Identifier: BSD-2-Clause
// Describes a probe of user events (include/ovnitrace/user_event.h) in a file.
#pragma once

#include <ovnitrace/capture.h>

#include <cstddef>
#include <cstdint>

namespace ovnitrace {

/// One place in the code of a file where a probe is.
struct Probe {
  uint64_t offset = 0;  ///< bytes from the start of the file: where its nop is
  user_probe what = {}; ///< for the BPF program
};

constexpr size_t kMostProbes = 1 << 16;   ///< in all files of a capture together
constexpr size_t kMostProbedFiles = 4096; ///< all open at once

} // namespace ovnitrace
