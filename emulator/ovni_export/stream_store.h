// SPDX-License-Identifier: BSD-2-Clause
// Writes the files of an ovni trace directory.
#pragma once

#include "emulator/input/source.h"
#include "emulator/output/atomic_directory.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ovnitrace::ovni {

/// The owner of a stream, for its place and its stream.json.
struct StreamOwner {
  std::string loom;
  int32_t pid = 0;
  int32_t tid = 0;
  int32_t app_id = 0; ///< from 1
  std::string name;   ///< of the thread; under a key of ours
  uint32_t parent = 0;
  uint64_t birth = 0;
  std::vector<uint32_t> cpus; ///< phyids of the loom, by index; empty: in another stream
};

/// Collects streams in memory up to kBuffered bytes and appends them to their files. Each file is
/// open only for that moment, so thousands of threads need few descriptors and little memory.
/// Everything is under a temporary name beside `path` until finish(); without finish() nothing is
/// left behind. Every function throws Error.
class StreamStore {
public:
  static constexpr size_t kBuffered = 16u << 20;   ///< bytes, all streams together
  static constexpr size_t kStreamMost = 64u << 10; ///< bytes, one stream

  /// REQUIRES: `path` does not exist, or is an empty directory.
  explicit StreamStore(std::string path) : directory_(std::move(path)) {}

  /// Starts a stream and returns its number, from 0.
  uint32_t add(StreamOwner owner);
  void append(uint32_t stream, std::string_view bytes);
  /// Writes everything that is left, and every stream.json.
  void finish();

private:
  struct Stream {
    StreamOwner owner;
    std::string place; ///< directory below the root
    std::string buffer;
    bool on_disk; ///< a part of it was written
  };
  void flush(Stream &stream);
  void flush_all();
  void write(const std::string &file, std::string_view bytes, int flags);
  void make_directory(const std::string &below);
  [[noreturn]] void fail(const std::string &doing, const std::string &what) const;

  AtomicDirectory directory_;
  std::vector<Stream> streams_;
  std::unordered_set<std::string> directories_; ///< made, below the root
  size_t buffered_ = 0;
};

} // namespace ovnitrace::ovni
