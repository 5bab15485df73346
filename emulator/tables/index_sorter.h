// SPDX-License-Identifier: BSD-2-Clause
// Sorts the entries of an index of a database, however many they are.
#pragma once

#include "emulator/base/temporary_file.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ovnitrace {

/// Names, numbered from 1 on in the order in which they were met.
class IndexedTexts {
public:
  uint32_t number(std::string_view text);
  const std::string &text(uint32_t number) const { return texts_[number - 1]; }
  /// By number, the place of each in the order of their bytes; [0] is 0.
  std::vector<uint32_t> ranks() const;

private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> numbers_;
  std::vector<std::string> texts_;
};

struct IndexEntry {
  int64_t time;   ///< ns: the second column
  uint32_t group; ///< the first column: what it stands for is its user's
  uint32_t row;
};

/// Orders entries by group, time and row. They come nearly in the order of their times, which makes
/// it quick: a run of them is sorted by group alone, and runs are merged by long pieces. Each run
/// is in memory, a few MB; the others are in a temporary file. Throws Error as that does.
class IndexSorter {
public:
  /// `texts`, borrowed, where groups are numbers of them: then the order is that of the texts.
  explicit IndexSorter(const IndexedTexts *texts = nullptr) : texts_(texts) {}

  void add(const IndexEntry &entry) {
    if (run_.size() == kRun)
      write_run();
    run_.push_back(entry);
  }
  /// Hands over all of them in their order. To be called once.
  void finish(const std::function<void(const IndexEntry &)> &put);

  static constexpr size_t kRun = 1 << 16; ///< entries

private:
  struct Reader;
  void sort_run();
  void write_run();
  uint32_t key(const IndexEntry &entry) const {
    return ranks_.empty() ? entry.group : ranks_[entry.group];
  }
  bool before(const IndexEntry &a, const IndexEntry &b) const;

  const IndexedTexts *texts_;
  std::vector<uint32_t> ranks_; ///< empty: groups are in the order of their numbers
  std::vector<IndexEntry> run_; ///< the one that is being filled
  TemporaryFile file_;          ///< those before it, of kRun each
};

} // namespace ovnitrace
