// SPDX-License-Identifier: BSD-2-Clause
// Where a collector puts the trace of one sender.
#pragma once

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
  /// Appends to the file of a CPU. Throws Error: then nothing more is taken, and what was taken
  /// stays readable.
  virtual void append(uint16_t cpu, bool compressed, std::string_view bytes) = 0;
  /// Writes over what was appended to a plain file before. Throws Error.
  virtual void overwrite(uint16_t cpu, uint64_t offset, std::string_view bytes) = 0;
  /// A piece of trace.json. Throws Error.
  virtual void describe(std::string_view text) = 0;
  /// These pieces are a trace.json, in place of the one that was there. Who reads it checks it.
  /// Throws Error.
  virtual void end_description() = 0;
  /// Removes what is there: nothing was captured.
  virtual void discard() noexcept = 0;
  /// Bytes of chunks that were taken.
  virtual uint64_t bytes() const = 0;
  virtual std::string path() const = 0;
};

/// A name for a directory out of anything: letters, digits and . _ - + only, no leading dot or
/// dash, 1 to 100 of them.
std::string safe_name(std::string_view name);

/// Makes the sink of a sender that calls its trace so (a safe_name()). Throws Error.
using MakeTraceSink = std::function<std::unique_ptr<TraceSink>(const std::string &name)>;

} // namespace ovnitrace
