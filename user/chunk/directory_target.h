// SPDX-License-Identifier: BSD-2-Clause
// Stores a capture in a trace directory on this machine.
#pragma once

#include "user/chunk/chunk_files.h"
#include "user/chunk/trace_target.h"

#include <cstdint>
#include <string>

namespace ovnitrace {

class DirectoryTarget final : public TraceTarget {
public:
  /// `level`: of zstd, 0 for plain files. Throws Error.
  DirectoryTarget(const std::string &path, IfExists exists, uint32_t cpus, int level)
      : directory_(path, exists), files_(directory_.fd(), cpus, level), cpus_(cpus) {}
  /// Makes a part of a rotated trace. Throws Error.
  DirectoryTarget(const TraceDirectory &whole, const std::string &name, uint32_t cpus, int level)
      : directory_(whole, name), files_(directory_.fd(), cpus, level), cpus_(cpus) {}

  ChunkDestination &output() override { return files_; }
  void prepare(const Description &description) override {
    directory_.prepare_file(kName, [&](const Put &put) {
      description([&](std::string_view text) {
        first_bytes_ += text.size();
        put(text);
      });
    });
  }
  /// Removes the trace that is to be overwritten. This is done only now, when the new trace can be
  /// written and the program runs. Reserves room for the description, even if the chunks fill the
  /// disk.
  void begin() override {
    directory_.clear();
    if (first_bytes_)
      directory_.put_in_place(kName);
    reserve();
  }
  void describe(const Description &description) override {
    end(description, 0);
    reserve();
  }
  void end(const Description &description, uint64_t) override {
    directory_.prepare_file(kName, description);
    directory_.put_in_place(kName);
  }
  void end_briefly(const Description &description) override { end(description, 0); }
  /// Writes another small file into the directory. Throws Error.
  void put_file(const std::string &name, const Description &text) {
    directory_.prepare_file(name, text);
    directory_.put_in_place(name);
  }
  uint64_t file_bytes(uint32_t cpu) const { return files_.bytes(cpu); } ///< of a chunk file
  TraceDirectory &directory() { return directory_; }
  void discard() noexcept override { directory_.discard(); }
  std::string place() const override { return directory_.path(); }
  bool may_stall() const override { return false; }

private:
  void reserve() {
    directory_.reserve(kName, first_bytes_ + kBytesKnownLater + cpus_ * kBytesOfACpu);
  }

  static constexpr char kName[] = "trace.json";
  static constexpr size_t kBytesKnownLater = 16 << 10,
                          kBytesOfACpu = 640; ///< without the list of threads
  TraceDirectory directory_;
  ChunkFiles files_;
  const uint32_t cpus_;
  size_t first_bytes_ = 0; ///< of the trace.json that was prepared, 0: none
};

} // namespace ovnitrace
