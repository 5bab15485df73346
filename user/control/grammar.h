// SPDX-License-Identifier: BSD-2-Clause
// Parses the language of --control into chains of alarms.
#pragma once

#include "emulator/format/alarm_types.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace::control {

/// Which part of a chain's text something is, for messages.
struct Span {
  size_t at = 0, length = 0; ///< bytes
};

/// EVENT:TYPE[:VALUE] with its suffixes, or uniform:PERIOD:LENGTH:COUNT.
struct Alarm {
  Span span = {};
  control_event event = CONTROL_START;
  const AlarmType *type = nullptr; ///< null: a uniform
  std::string value;               ///< as it was written
  Span value_span = {};
  uint64_t number = 0; ///< of a value that is a number, the first one of a pair
  uint64_t second = 0; ///< of a pair
  uint64_t count = 0;  ///< 0: not given, which is 1
  std::optional<uint32_t> tid;
  bool bcast = false, global = false;
  uint64_t period = 0, length = 0, samples = 0; ///< of a uniform

  /// Returns whether the place is 0xADDRESS.
  bool is_address() const {
    return type && type->type == CONTROL_ADDRESS &&
           (value.starts_with("0x") || value.starts_with("0X"));
  }
};

struct Chain {
  std::string text; ///< as it was given
  std::vector<Alarm> alarms;
  uint64_t repeat = 1;       ///< 0: endless
  bool repeat_given = false; ///< it was written
  std::string name;          ///< empty: none
  Span name_span = {};
  std::string waitfor; ///< empty: for none
  Span waitfor_span = {};
};

/// Throws Error with status 2: `what`, then the text with a caret below `where`.
[[noreturn]] void fail_usage(std::string_view text, Span where, const std::string &what);

/// Reads one chain. Does not check whether the chain of `waitfor` exists, nor look up symbols.
/// Throws Error with status 2 and a caret.
Chain parse_chain(std::string_view text);

} // namespace ovnitrace::control
