// SPDX-License-Identifier: BSD-2-Clause
// Stores a capture in a directory of parts (--rotate), each of which is a trace.
#pragma once

#include "user/chunk/directory_target.h"
#include "user/chunk/forgotten_states.h"
#include "user/chunk/rotation.h"
#include "user/chunk/trace_target.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ovnitrace {

/// Writes the parts PATH/0001, PATH/0002, …. All parts but the first one begin with the states of
/// the threads, as the trace of a flight recorder does. PATH/trace.json describes the capture;
/// part.json of each part says which bytes of its files belong to the whole (docs/format.md). If
/// the disk is full, the oldest part is removed, and a new one begins.
class RotatingTarget final : public TraceTarget, private ChunkDestination {
public:
  /// `level`: of zstd, 0 for plain files. Throws Error.
  RotatingTarget(const std::string &path, IfExists exists, uint32_t cpus, int level,
                 const Rotation &rotation);

  ChunkDestination &output() override { return *this; }
  void prepare(const Description &description) override;
  void prepare_parts(const Description &ended, const Description &last) override {
    ended_part_ = ended;
    last_part_ = last;
  }
  void begin() override;
  void describe(const Description &description) override { whole_.describe(description); }
  void end(const Description &description, uint64_t missing) override;
  void end_briefly(const Description &description) override { whole_.end_briefly(description); }
  void discard() noexcept override { whole_.discard(); }
  std::string place() const override { return whole_.place(); }
  bool may_stall() const override { return false; }
  bool wants_rotation(uint64_t now) const override;
  void rotate_soon(uint64_t before, uint64_t after) override;
  std::string keep_part(uint64_t time) override;

private:
  /// What is known of a CPU.
  struct Cpu {
    uint64_t last = 0;         ///< ns: of the last record that was written
    uint32_t next_number = 0;  ///< of the next chunk
    uint64_t events = 0;       ///< written
    uint64_t from = 0, to = 0; ///< bytes of its file in this part that belong to the whole
    bool has_file = false;     ///< in this part
  };

  size_t write(const Chunk &chunk) override;
  void finish() override;
  std::string error() const override;

  void open_part(uint64_t known_until);
  void fill_part(DirectoryTarget &part, uint64_t known_until);
  void put_part_file(DirectoryTarget &part, bool grows);
  void close_part(const Description &description);
  void next_part(uint64_t known_until);
  size_t write_on(const Chunk &chunk);
  void keep_last();
  std::deque<unsigned>::iterator oldest();
  bool make_room(const std::string &why);
  void drop_oldest();

  const uint32_t cpus_;
  const int level_;
  const Rotation rotation_;
  DirectoryTarget whole_; ///< without chunks
  std::unique_ptr<DirectoryTarget> part_;
  std::deque<unsigned> parts_; ///< numbers, oldest first; the last is part_
  std::set<unsigned> kept_;    ///< those of them that a trigger keeps
  Description description_;    ///< of the part that is written
  Description ended_part_;     ///< of a part before the last, when it has ended
  Description last_part_;      ///< of the last part, when it has ended
  ForgottenStates states_;
  std::vector<Cpu> by_cpu_;
  std::atomic<uint64_t> part_bytes_{0}, part_begin_{0};
  std::atomic<unsigned> number_{0}; ///< of part_
  struct Cut {
    uint64_t before, after; ///< as in rotate_soon()
  };
  mutable std::mutex mutex_;
  std::optional<Cut> cut_;
  unsigned to_keep_ = 0; ///< how many parts, from part_ on, are kept when they end
  std::string error_;
};

} // namespace ovnitrace
