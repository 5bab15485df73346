// SPDX-License-Identifier: BSD-2-Clause
// Life records, as the BPF programs write them.
#pragma once

#include <ovnitrace/capture.h>

#include <cstdint>
#include <string_view>

namespace ovnitrace::test {

/// Ten threads with consecutive numbers are a process.
inline life_record life(uint64_t time, uint32_t kind, uint32_t tid, std::string_view comm,
                        uint32_t arg = 0) {
  life_record record = {};
  record.time = time;
  record.kind = kind;
  record.tid = tid;
  record.pid = tid / 10 * 10;
  record.arg = arg;
  comm.copy(record.comm, CAPTURE_COMM_LEN - 1);
  return record;
}

} // namespace ovnitrace::test
