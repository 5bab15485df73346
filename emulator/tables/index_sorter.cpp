// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/tables/index_sorter.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

namespace ovnitrace {

namespace {

constexpr size_t kMergeBytes = 8 << 20; ///< of all blocks that are read at a time, about

} // namespace

uint32_t IndexedTexts::number(std::string_view text) {
  const auto known = numbers_.find(text);
  if (known != numbers_.end())
    return known->second;
  texts_.emplace_back(text);
  return numbers_.emplace(text, uint32_t(texts_.size())).first->second;
}

std::vector<uint32_t> IndexedTexts::ranks() const {
  std::vector<uint32_t> order(texts_.size()), ranks(texts_.size() + 1);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return texts_[a] < texts_[b]; });
  for (uint32_t n = 0; n < order.size(); n++)
    ranks[order[n] + 1] = n + 1;
  return ranks;
}

bool IndexSorter::before(const IndexEntry &a, const IndexEntry &b) const {
  return std::tuple(key(a), a.time, a.row) < std::tuple(key(b), b.time, b.row);
}

/// By the bytes of the group in which any two differ, the lowest first. This keeps the order of
/// times, if they were in order.
void IndexSorter::sort_run() {
  if (texts_) // new ones leave the order of those before them as it is
    ranks_ = texts_->ranks();
  uint32_t differ = 0;
  for (const IndexEntry &entry : run_)
    differ |= key(entry) ^ key(run_.front());
  std::vector<IndexEntry> other(differ ? run_.size() : 0);
  for (int shift = 0; shift < 32; shift += 8) {
    if ((differ >> shift & 0xff) == 0)
      continue;
    std::array<size_t, 256> at{};
    for (const IndexEntry &entry : run_)
      at[key(entry) >> shift & 0xff]++;
    std::exclusive_scan(at.begin(), at.end(), at.begin(), size_t(0));
    for (const IndexEntry &entry : run_)
      other[at[key(entry) >> shift & 0xff]++] = entry;
    run_.swap(other);
  }
  const auto less = [this](const IndexEntry &a, const IndexEntry &b) { return before(a, b); };
  if (!std::is_sorted(run_.begin(), run_.end(), less))
    std::sort(run_.begin(), run_.end(), less);
}

void IndexSorter::write_run() {
  sort_run();
  file_.append(run_.data(), run_.size() * sizeof(IndexEntry));
  run_.clear();
}

/// Reads a run, block after block.
struct IndexSorter::Reader {
  uint64_t at, end; ///< entries in the file
  std::vector<IndexEntry> block = {};
  size_t next = 0;

  const IndexEntry &entry() const { return block[next]; }
  /// The next entry; false: there is none.
  bool advance(const TemporaryFile &file, size_t most) {
    if (++next < block.size())
      return true;
    block.resize(size_t(std::min<uint64_t>(most, end - at)));
    file.read(at * sizeof(IndexEntry), block.data(), block.size() * sizeof(IndexEntry));
    at += block.size();
    next = 0;
    return !block.empty();
  }
};

void IndexSorter::finish(const std::function<void(const IndexEntry &)> &put) {
  if (file_.size() == 0) {
    sort_run();
    std::for_each(run_.begin(), run_.end(), put);
    return;
  }
  write_run();
  const uint64_t all = file_.size() / sizeof(IndexEntry), runs = (all + kRun - 1) / kRun;
  const size_t most = std::clamp<size_t>(kMergeBytes / sizeof(IndexEntry) / size_t(runs), 16, kRun);
  std::vector<Reader> readers;
  for (uint64_t run = 0; run < runs; run++)
    readers.push_back({run * kRun, std::min(all, (run + 1) * kRun)});
  std::vector<Reader *> heap; // the front is the one with the least entry
  const auto after = [this](const Reader *a, const Reader *b) {
    return before(b->entry(), a->entry());
  };
  for (Reader &reader : readers)
    if (reader.advance(file_, most))
      heap.push_back(&reader);
  std::make_heap(heap.begin(), heap.end(), after);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), after);
    Reader &least = *heap.back();
    const Reader *next = heap.size() > 1 ? heap.front() : nullptr;
    bool more = true;
    do { // as long as no other run has a lower one
      put(least.entry());
      more = least.advance(file_, most);
    } while (more && (!next || before(least.entry(), next->entry())));
    if (more)
      std::push_heap(heap.begin(), heap.end(), after);
    else
      heap.pop_back();
  }
}

} // namespace ovnitrace
