// SPDX-License-Identifier: BSD-2-Clause
// Packs and unpacks the records that say who a thread is: id, EXT_process, EXT_parent, EXT_cgroup
// and EXT_name_0 to EXT_name_3.
#pragma once

#include "emulator/base/printable.h"
#include "emulator/format/code_kind.h"

#include <ovnitrace/ftrace_codes.h>
#include <ovnitrace/ftrace_record.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace ovnitrace {

/// A name of up to 16 characters, four in each record. The first record starts a new name.
class ThreadName {
public:
  static constexpr unsigned kParts = 4;

  ThreadName() = default;
  /// Copies 16 characters. A shorter name ends with zeros.
  explicit ThreadName(const char *comm) {
    std::memcpy(characters_.data(), comm, characters_.size());
  }

  static constexpr bool is_part(uint8_t code) {
    return code == FTrace_EXT_name_0 || code == FTrace_EXT_name_1 || code == FTrace_EXT_name_2 ||
           code == FTrace_EXT_name_3;
  }
  static constexpr unsigned part_of(uint8_t code) {
    return unsigned(code - FTrace_EXT_name_0) >> 4;
  }
  static constexpr uint16_t code_of_part(unsigned part) {
    return uint16_t(FTrace_EXT_name_0 + (part << 4));
  }

  /// Sets characters 4 * part … 4 * part + 3. REQUIRES: part < kParts.
  void set(unsigned part, uint32_t four) {
    if (part == 0)
      characters_.fill(0);
    std::memcpy(characters_.data() + part * 4, &four, 4);
  }
  /// Calls put(code, characters) for each record of the name. An empty name has one record.
  template <class Put> void encode(const Put &put) const {
    for (unsigned part = 0; part == 0 || (part < kParts && characters_[4 * part]); part++) {
      uint32_t four;
      std::memcpy(&four, characters_.data() + 4 * part, 4);
      put(code_of_part(part), four);
    }
  }

  bool empty() const { return characters_[0] == 0; }
  /// Returns the name as the thread set it.
  std::string_view raw() const {
    return {characters_.data(), strnlen(characters_.data(), characters_.size())};
  }
  /// Returns the name with '?' for what is not printable: a thread may set any bytes.
  std::string text() const { return printable_line(raw()); }

private:
  std::array<char, 4 * kParts> characters_{};
};

/// Who a thread is. What is not known is 0 or absent.
struct ThreadIdentity {
  uint32_t tid = 0;
  uint32_t pid = 0;          ///< process (tgid)
  uint32_t parent = 0;       ///< tid of the creator
  uint64_t birth = 0;        ///< ns; 0: alive before the capture
  uint32_t cgroup = 0;       ///< number of its cgroup in trace.json
  uint64_t cgroup_since = 0; ///< ns: since when it is in it; 0: since before the capture
  std::optional<ThreadName> name = std::nullopt;
  uint64_t name_time = 0; ///< ns: when it is first known to have that name

  static constexpr size_t kMostRecords = 4 + ThreadName::kParts;

  /// Calls put(code, context, time, par2) for each record that binds `context` to this thread at
  /// `time`, ns.
  template <class Put> void encode(uint16_t context, uint64_t time, const Put &put) const {
    put(FTrace_EVT_id, context, time, tid);
    if (pid)
      put(FTrace_EXT_process, context, birth, pid);
    if (parent)
      put(FTrace_EXT_parent, context, birth, parent);
    if (cgroup)
      put(FTrace_EXT_cgroup, context, cgroup_since, cgroup);
    if (name)
      name->encode([&](uint16_t code, uint32_t four) { put(code, context, time, four); });
  }

  /// Takes what a record says; ignores records of other codes. `ns` converts ticks to ns.
  template <class Ns = std::identity> void take(const ftrace_record &record, const Ns &ns = {}) {
    const uint8_t code = code_of(record.code);
    const uint64_t ticks = ftrace_record_tsc(&record);
    if (code == FTrace_EVT_id) {
      tid = record.par2;
    } else if (code == FTrace_EXT_process) {
      pid = record.par2;
      birth = ticks ? ns(ticks) : 0;
    } else if (code == FTrace_EXT_parent) {
      parent = record.par2;
    } else if (code == FTrace_EXT_cgroup) {
      cgroup = record.par2;
      cgroup_since = ticks ? ns(ticks) : 0;
    } else if (ThreadName::is_part(code)) {
      const unsigned part = ThreadName::part_of(code);
      if (part == 0)
        name_time = ns(ticks);
      if (!name)
        name.emplace();
      name->set(part, record.par2);
    }
  }
};

} // namespace ovnitrace
