// SPDX-License-Identifier: BSD-2-Clause
// Packs what the page needs to explain any range: who had the CPUs, and who woke whom. Sums up who
// held the CPU while threads waited.
#pragma once

#include "emulator/input/trace_info.h"
#include "emulator/slices/slice.h"
#include "emulator/why/explainer.h"

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ovnitrace {

/// Collects the part "causes" of the page while an Explainer explains the same replay. Memory: what
/// it packs, at most `most_bytes`.
///
/// The bytes are varints. First come the turns of the CPUs: for each CPU their number, then for
/// each turn its length (ns) and its holder. The first turn of a CPU starts at the start of the
/// range. Then comes, for each thread, the number of its entries, and the entries in the order of
/// its slices:
///
///   Paused             2 + block, waker; 1 for the program's wait for the start of the capture
///   Cooling, Warming   0, kind of wait, number of moves; for each move its time since the start
///                      of the slice (ns), and 1 + the CPU (0: not known); then for each
///                      IdleCause the ns in which CPUs were idle
///
/// Blocks, kinds and culprits (holders and wakers) are numbers of the lists in the header.
class WhyPart final : public SliceSink, public CpuHolders::TurnTaker {
public:
  /// `explainer` outlives it, and takes each slice before this does. The cut is that of the page.
  WhyPart(const Catalog &catalog, const TraceInfo &info, const Cut &cut, Explainer &explainer,
          uint64_t most_bytes);

  void on_change(uint32_t thread, const StateChange &change, uint64_t time) override;
  void on_slice(const Slice &slice) override;
  void turn(uint32_t cpu, Culprit holder, uint64_t start, uint64_t end) override;

  /// Returns the header of the part: {"culprits", "blocks", "kinds", "idle"}; null if there is no
  /// part. `throttles_real_time`: real-time threads were throttled.
  nlohmann::ordered_json header(bool throttles_real_time) const;
  /// Returns the part; empty if it takes more than `most_bytes`. To be called after the
  /// explainer's finish().
  std::string bytes() const;

private:
  struct Entries {
    std::string bytes;
    uint64_t count = 0;
  };
  struct Move {
    uint64_t time;
    uint32_t cpu; ///< 1 + index, 0: not known
  };

  uint32_t number_of(Culprit culprit, uint32_t host);
  uint32_t number_of(Block block);
  bool overflown() const { return used_ > most_bytes_; }

  const Catalog &catalog_;
  const TraceInfo &info_;
  const TimeRange range_;
  Explainer &explainer_;
  const uint64_t most_bytes_;
  uint64_t used_ = 0;
  std::vector<Entries> turns_;           ///< by CPU
  std::vector<uint64_t> turned_;         ///< by CPU: ns up to which it has turns
  std::vector<Entries> threads_;         ///< by thread
  std::vector<std::vector<Move>> moves_; ///< by thread: of its open wait
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> culprit_numbers_; ///< by host and code
  std::vector<std::pair<uint32_t, Culprit>> culprits_;                ///< host and culprit
  std::map<Block, uint32_t> block_numbers_;
  std::vector<Block> blocks_;
};

/// Returns JSON: who held the CPU while threads waited. `sums`: how long each thread waited while
/// one holder held its CPU, the longest first, at most 1000. `left_out`: ns of the others.
nlohmann::ordered_json waits_header(const Catalog &catalog, const Explanation &why);

} // namespace ovnitrace
