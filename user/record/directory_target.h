// A capture to a trace directory on this machine.
#pragma once

#include "user/chunk/chunk_files.h"
#include "user/record/trace_target.h"

#include <cstdint>
#include <string>

namespace ovnitrace {

class DirectoryTarget final : public TraceTarget {
public:
  /// `level`: of zstd, 0 for plain files. Throws Error.
  DirectoryTarget(const std::string &path, IfExists exists, uint32_t cpus, int level)
      : directory_(path, exists), files_(directory_.fd(), cpus, level) {}

  ChunkOutput &output() override { return files_; }
  void prepare(const Description &description) override {
    directory_.prepare_file(kName, description);
    prepared_ = true;
  }
  /// A trace that is to be overwritten is removed now, when the new one can be written and the program runs.
  void begin() override {
    directory_.clear();
    if (prepared_)
      directory_.put_in_place(kName);
  }
  void end(const Description &description) override {
    directory_.prepare_file(kName, description);
    directory_.put_in_place(kName);
  }
  void discard() noexcept override { directory_.discard(); }
  std::string place() const override { return directory_.path(); }
  bool may_stall() const override { return false; }

private:
  static constexpr char kName[] = "trace.json";
  TraceDirectory directory_;
  ChunkFiles files_;
  bool prepared_ = false;
};

} // namespace ovnitrace
