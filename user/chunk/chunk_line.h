// SPDX-License-Identifier: BSD-2-Clause
// Chunks on their way to an output.
#pragma once

#include "emulator/format/chunk_frame.h"
#include "user/chunk/chunk_output.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

namespace ovnitrace {

/// How the chunks of a line are compressed.
struct LineCompression {
  int level = 0;    ///< of zstd, 0: they are not
  size_t waits = 0; ///< chunks that may wait for it: where there are more, it is given up for some
  std::chrono::steady_clock::duration patience = std::chrono::seconds(1); ///< how long one may
};

/// Writes chunks to an output in the order in which they come, by a thread of its own. Another one,
/// of low priority, compresses them before. Nothing waits for that one for long: a chunk that has
/// waited for too long, or is one of too many, is written in a frame that is not compressed. At the
/// end who closes the line compresses too.
class ChunkLine {
public:
  /// Called for each chunk when it is written, on a thread of the line; `missing`: records that the
  /// output did not take.
  using Done = std::function<void(Chunk *chunk, size_t missing)>;

  /// `output` outlives it. Throws std::system_error where a thread cannot start.
  ChunkLine(ChunkOutput &output, const LineCompression &compression, Done done);
  ~ChunkLine();

  /// Never waits. The chunk is not touched before it is done.
  void add(Chunk *chunk);
  /// Writes what was added, ends the threads and finishes the output.
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
  using Items = std::list<Item>;
  using Lock = std::unique_lock<std::mutex>;

  void write_all();
  void compress_all();
  bool wait_for_first(Lock &lock);
  void write_first(Lock &lock);
  bool compress_first(Lock &lock, FrameCompressor &compressor);
  bool is_any_waiting() const;
  void end(Lock &lock, Items::iterator item);

  ChunkOutput &output_;
  const LineCompression compression_;
  const Done done_;
  std::mutex mutex_;
  std::condition_variable added_, changed_; ///< for who compresses; for who writes
  Items items_;                             ///< in their order
  Items taken_;                             ///< by who writes
  bool closing_ = false;
  std::optional<FrameCompressor> store_; ///< of frames that are not compressed
  std::thread writer_, compressor_;
};

} // namespace ovnitrace
