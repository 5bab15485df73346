// SPDX-License-Identifier: BSD-2-Clause
// Fills a trace directory at a collector.
#pragma once

#include "emulator/base/unique_fd.h"
#include "user/chunk/trace_directory.h"
#include "user/net/trace_sink.h"

#include <map>
#include <string>
#include <utility>

namespace ovnitrace {

/// DIR/NAME, or DIR/NAME-2, … where that is there already.
class CollectedTrace final : public TraceSink {
public:
  /// `most_bytes`: of all its files; 0: no limit. `most_open`: files at once; those of more CPUs
  /// are opened again and again. Throws Error.
  CollectedTrace(const std::string &directory, const std::string &name, uint64_t most_bytes,
                 unsigned most_open);

  void append(uint16_t cpu, bool compressed, std::string_view bytes) override;
  void overwrite(uint16_t cpu, uint64_t offset, std::string_view bytes) override;
  void describe(std::string_view text) override;
  void end_description() override;
  void discard() noexcept override { directory_.discard(); }
  uint64_t bytes() const override { return bytes_; }
  std::string path() const override { return directory_.path(); }

private:
  struct File {
    UniqueFd fd;
    uint64_t size = 0;
  };
  using FileKey = std::pair<uint16_t, bool>; ///< CPU, compressed
  static std::string file_name(FileKey key);
  File &opened(FileKey key);
  void write(const File &file, uint64_t offset, std::string_view bytes, const std::string &name);
  void count(uint64_t bytes);
  [[noreturn]] void fail(const std::string &name, int error);
  const char *kept() const; ///< what is left after a failure, in words

  TraceDirectory directory_;
  const uint64_t most_bytes_;
  const unsigned most_open_;
  uint64_t bytes_ = 0;       ///< of chunks
  uint64_t description_ = 0; ///< bytes of trace.json so far, of all that came
  UniqueFd description_file_;
  std::map<FileKey, File> files_;
  unsigned open_files_ = 0;
  bool failed_ = false;
};

} // namespace ovnitrace
