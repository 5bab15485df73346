// SPDX-License-Identifier: BSD-2-Clause
// Builds plain FTrace files by hand, record by record, as S.Ha.R.K. saves them:
//
//   SharkBuilder file;
//   file.at(10).record(FTrace_EVT_context_switch, 48).at(20)…;
//   file.write(path);
#pragma once

#include <ovnitrace/ftrace_codes.h>
#include <ovnitrace/ftrace_record.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace ovnitrace::test {

class SharkBuilder {
public:
  /// The ticks of all that follows.
  SharkBuilder &at(uint64_t ticks) {
    ticks_ = ticks;
    return *this;
  }
  uint64_t ticks() const { return ticks_; }
  SharkBuilder &record(uint16_t code, uint16_t par1 = 0, uint32_t par2 = 0) {
    records_.emplace_back();
    ftrace_record_set(&records_.back(), code, par1, ticks_, par2);
    return *this;
  }
  SharkBuilder &rate(uint32_t ticks_per_ms) {
    return record(FTrace_EVT_cycles_per_msec, 0, ticks_per_ms);
  }
  SharkBuilder &id(uint16_t context, uint32_t pid) { return record(FTrace_EVT_id, context, pid); }
  SharkBuilder &context_switch(uint16_t context) {
    return record(FTrace_EVT_context_switch, context);
  }
  SharkBuilder &empty() {
    records_.emplace_back();
    return *this;
  }
  /// Puts all records so far into the memory order of a cyclic chunk. The newer ones, from `first`
  /// on, were written over its start, so they come before the older ones.
  SharkBuilder &rotate(size_t first) {
    std::rotate(records_.begin(), records_.begin() + std::ptrdiff_t(first), records_.end());
    return *this;
  }

  std::vector<ftrace_record> &records() { return records_; }
  void write(const std::string &path, size_t cut = 0) const {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char *>(records_.data()),
              std::streamsize(records_.size() * sizeof(ftrace_record) - cut));
  }

private:
  uint64_t ticks_ = 0;
  std::vector<ftrace_record> records_;
};

} // namespace ovnitrace::test
