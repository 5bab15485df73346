// SPDX-License-Identifier: BSD-2-Clause
// Who a thread is, and the records that say so: id, EXT_process, EXT_parent and EXT_name_0 to _3.
#pragma once

#include "emulator/base/printable.h"
#include "emulator/format/code_kind.h"

#include <ovnitrace/ftrace_codes.h>
#include <ovnitrace/ftrace_record.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ovnitrace {

/// Up to 16 characters, four a record. The first record starts a new name.
class ThreadName {
public:
  static constexpr unsigned kParts = 4;

  ThreadName() = default;
  /// 16 characters, with 0 after the last.
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

  /// Sets characters 4 * part … 4 * part + 3, part below kParts.
  void set(unsigned part, uint32_t four) {
    if (part == 0)
      characters_.fill(0);
    std::memcpy(characters_.data() + part * 4, &four, 4);
  }
  /// Calls put(code, characters) for each record that it takes: for an empty one too it is one.
  template <class Put> void encode(const Put &put) const {
    for (unsigned part = 0; part == 0 || (part < kParts && characters_[4 * part]); part++) {
      uint32_t four;
      std::memcpy(&four, characters_.data() + 4 * part, 4);
      put(code_of_part(part), four);
    }
  }

  bool empty() const { return characters_[0] == 0; }
  /// As the thread named itself.
  std::string_view raw() const {
    return {characters_.data(), strnlen(characters_.data(), characters_.size())};
  }
  /// As a thread may name itself anything, what is not printable becomes '?'.
  std::string text() const { return printable_line(raw()); }

private:
  std::array<char, 4 * kParts> characters_{};
};

/// What is not known is 0, or absent.
struct ThreadIdentity {
  uint32_t tid = 0;
  uint32_t pid = 0;    ///< process (tgid)
  uint32_t parent = 0; ///< tid of its creator
  uint64_t birth = 0;  ///< ns; 0: alive before the capture
  std::optional<ThreadName> name = std::nullopt;
  uint64_t name_time = 0; ///< ns: since when it is known to have that name

  static constexpr size_t kMostRecords = 3 + ThreadName::kParts;

  /// Whether a record goes on with what an id said before it.
  static constexpr bool continues(uint8_t code) {
    return has_birth(code) || ThreadName::is_part(code);
  }
  /// Whether the time of a record is the birth of its thread, which gives no order.
  static constexpr bool has_birth(uint8_t code) {
    return code == FTrace_EXT_process || code == FTrace_EXT_parent;
  }

  /// Calls put(code, context, time, par2) for each record that binds `context` to it at `time`, ns.
  template <class Put> void encode(uint16_t context, uint64_t time, const Put &put) const {
    put(FTrace_EVT_id, context, time, tid);
    if (pid)
      put(FTrace_EXT_process, context, birth, pid);
    if (parent)
      put(FTrace_EXT_parent, context, birth, parent);
    if (name)
      name->encode([&](uint16_t code, uint32_t four) { put(code, context, time, four); });
  }

  /// Takes what one of its records says, and nothing from any other. `ns` makes ns of ticks.
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
