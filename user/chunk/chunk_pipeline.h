// SPDX-License-Identifier: BSD-2-Clause
// Compresses chunks on one thread and writes them, in order, on another.
#pragma once

#include "emulator/format/chunk_frame.h"
#include "user/chunk/chunk_destination.h"
#include "user/chunk/inheriting_mutex.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

namespace ovnitrace {

/// How a ChunkPipeline compresses.
struct PipelineCompression {
  int level = 0;    ///< of zstd; 0: no compression
  size_t waits = 0; ///< chunks that may wait for the compressor
  std::chrono::steady_clock::duration patience =
      std::chrono::seconds(1); ///< how long each may wait
};

/// The compressor has low priority, so chunks may pile up before it. A chunk that has waited for
/// `patience`, or that is one of more than `waits`, is written uncompressed. close() helps to
/// compress the rest.
class ChunkPipeline {
public:
  /// Called on a thread of the pipeline when a chunk is written. `missing`: how many of its records
  /// the destination did not take.
  using Done = std::function<void(Chunk *chunk, size_t missing)>;

  /// `output` outlives it. Throws std::system_error where a thread cannot start.
  ChunkPipeline(ChunkDestination &output, const PipelineCompression &compression, Done done);
  ~ChunkPipeline();

  /// Adds a chunk and returns at once. The caller must not touch the chunk until `done`.
  void add(Chunk *chunk);
  /// Writes the chunks that were added, ends the threads and finishes the destination.
  void close();

private:
  using Clock = std::chrono::steady_clock;
  /// A chunk. One that is written while it is being compressed is done when both are.
  struct Item {
    enum State {
      kWaits,
      kIsCompressed, ///< is being compressed
      kReady,        ///< to be written, or being written
      kIsLeft,       ///< is being compressed and written at once
      kIsWritten,    ///< is being compressed, for nothing
    };
    Chunk *chunk;
    Clock::time_point since;
    State state;
    size_t missing = 0; ///< once it is written
  };
  /// What a thread compresses with. It uses the memory of earlier frames again: a thread of low
  /// priority can lose its CPU while it holds a lock of malloc(). The reader would wait for it, and
  /// so would a fork(), which takes all these locks.
  struct Compressor {
    explicit Compressor(int level) : frames(level) {}
    FrameCompressor frames;
    std::vector<char> frame;
  };
  using Items = std::list<Item>;
  using Lock = std::unique_lock<std::mutex>;

  void write_all();
  void compress_all();
  bool wait_for_first(Lock &lock);
  void write_first(Lock &lock);
  bool compress_first(Lock &lock, Compressor &compressor);
  bool is_any_waiting() const;
  void end(Lock &lock, Items::iterator item);

  ChunkDestination &output_;
  const PipelineCompression compression_;
  const Done done_;
  InheritingMutex mutex_;
  std::condition_variable added_, changed_; ///< for who compresses; for who writes
  Items items_;                             ///< in their order
  Items taken_;                             ///< by who writes
  bool closing_ = false;
  std::optional<Compressor> store_; ///< of frames that are not compressed
  std::thread writer_, compressor_;
};

} // namespace ovnitrace
