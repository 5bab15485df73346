// SPDX-License-Identifier: BSD-2-Clause
// Takes the trace of one sender at a collector.
#pragma once

#include "emulator/format/codec.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace ovnitrace {

class TraceSink {
public:
  /// In place of a CPU: the one file of a sender that is not ovnitrace.
  static constexpr uint16_t kPlainFile = 0xFFFF;

  virtual ~TraceSink() = default;
  /// Appends to the file of a CPU. Throws Error: nothing more is taken then, and what was taken
  /// stays readable.
  virtual void append(uint16_t cpu, Codec codec, std::string_view bytes) = 0;
  /// Adds a piece of trace.json. Throws Error.
  virtual void describe(std::string_view text) = 0;
  /// Replaces trace.json with these pieces. The reader of the file checks them. Throws Error.
  virtual void end_description() = 0;
  /// Removes the trace: nothing was captured.
  virtual void discard() noexcept = 0;
  /// Returns how many bytes of chunks were taken.
  virtual uint64_t bytes() const = 0;
  virtual std::string path() const = 0;
};

/// Makes a name for a directory out of any text: letters, digits and . _ - + only, no leading dot
/// or dash, 1 to 100 of them.
std::string safe_name(std::string_view name);

/// Makes the sink of a sender whose trace has this name (a safe_name()). Throws Error.
using MakeTraceSink = std::function<std::unique_ptr<TraceSink>(const std::string &name)>;

} // namespace ovnitrace
