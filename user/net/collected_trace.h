// SPDX-License-Identifier: BSD-2-Clause
// Fills a trace directory at a collector.
#pragma once

#include "emulator/base/unique_fd.h"
#include "user/chunk/trace_directory.h"
#include "user/net/trace_sink.h"

#include <string>

namespace ovnitrace {

/// DIR/NAME, or DIR/NAME-2, … where that is there already. No chunk file stays open: there may be
/// many senders and CPUs.
class CollectedTrace final : public TraceSink {
public:
  /// `most_bytes`: of all its files; 0: no limit. Throws Error.
  CollectedTrace(const std::string &directory, const std::string &name, uint64_t most_bytes);
  /// Removes a description that did not come whole.
  ~CollectedTrace() override;

  void append(uint16_t cpu, Codec codec, std::string_view bytes) override;
  void describe(std::string_view text) override;
  void end_description() override;
  void discard() noexcept override { directory_.discard(); }
  uint64_t bytes() const override { return bytes_; }
  std::string path() const override { return directory_.path(); }

private:
  UniqueFd open_file(const std::string &name, int flags);
  void count(uint64_t bytes);
  [[noreturn]] void fail(const std::string &name); ///< errno says why
  const char *kept() const;                        ///< what is left after a failure, in words

  TraceDirectory directory_;
  const uint64_t most_bytes_;
  uint64_t bytes_ = 0;       ///< of chunks
  uint64_t description_ = 0; ///< bytes of trace.json so far, of all that came
  UniqueFd description_file_;
  bool failed_ = false;
};

} // namespace ovnitrace
