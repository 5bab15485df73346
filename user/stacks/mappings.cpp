// SPDX-License-Identifier: BSD-2-Clause
#include "user/stacks/mappings.h"

namespace ovnitrace {

namespace {

/// Processes that only share what they have with one that forked them; beyond it nothing is known.
constexpr int kMostGenerations = 64;

} // namespace

uint32_t Mappings::start_life(uint32_t pid, uint64_t since, uint32_t parent) {
  if (lives_.size() == kMost) {
    miss(since);
    return kNoLife;
  }
  const auto number = uint32_t(lives_.size());
  lives_.push_back({since, parent, {}, 0, {}});
  std::vector<uint32_t> &all = by_pid_[pid];
  const auto later =
      std::upper_bound(all.begin(), all.end(), since,
                       [&](uint64_t time, uint32_t l) { return time < lives_[l].since; });
  all.insert(later, number);
  return number;
}

/// Returns the last life of the process that had started at `time`. The first known life counts
/// from the start of the trace.
uint32_t Mappings::life(uint32_t pid, uint64_t time) {
  const auto found = by_pid_.find(pid);
  if (found == by_pid_.end())
    return start_life(pid, 0, kNoLife);
  const std::vector<uint32_t> &all = found->second;
  for (auto at = all.rbegin(); at != all.rend(); ++at)
    if (lives_[*at].since <= time)
      return *at;
  return start_life(pid, 0, kNoLife);
}

uint32_t Mappings::file(const CodeFile &file, FirstUse use) {
  if (file.path.empty())
    return kNoFile;
  if (const auto known = file_numbers_.find(file); known != file_numbers_.end())
    return known->second;
  if (path_bytes_ + file.path.size() > kMostPathBytes) {
    left_out_++;
    return kNoFile;
  }
  const auto number = uint32_t(files_.size());
  path_bytes_ += file.path.size();
  files_.push_back(file);
  first_uses_.push_back(use);
  file_numbers_.emplace(file, number);
  return number;
}

void Mappings::map(uint32_t pid, uint64_t time, uint64_t start, uint64_t end, uint64_t offset,
                   const CodeFile &mapped) {
  if (start >= end)
    return;
  const uint32_t owner = mappings_ < kMost ? life(pid, time) : kNoLife;
  if (owner == kNoLife) {
    miss(time);
    left_out_++;
    return;
  }
  Life &life = lives_[owner];
  const Mapping mapping = {end, offset, time, file(mapped, {pid, time})};
  if (replaces(owner, start, end, mapping)) {
    life.replaced.insert(std::upper_bound(life.replaced.begin(), life.replaced.end(), time), time);
    replaced_.push_back({owner, start, end});
  } else if (is_known(life, start, mapping)) {
    return;
  }
  mappings_++;
  changes_++;
  life.mappings.emplace(start, mapping);
  life.longest = std::max(life.longest, end - start);
}

/// Returns whether a life has such a mapping already. REQUIRES: no other code was ever there
bool Mappings::is_known(const Life &life, uint64_t start, const Mapping &mapping) {
  const auto [first, last] = life.mappings.equal_range(start);
  return std::any_of(first, last, [&](const auto &known) {
    return known.second.end >= mapping.end && known.second.time <= mapping.time;
  });
}

/// Returns whether other code was mapped from `start` to `end`.
bool Mappings::replaces(uint32_t number, uint64_t start, uint64_t end,
                        const Mapping &mapping) const {
  for (int n = 0; n < kMostGenerations && number != kNoLife; n++, number = lives_[number].parent) {
    const Life &life = lives_[number];
    const uint64_t first = start > life.longest ? start - life.longest : 0;
    for (auto at = life.mappings.lower_bound(first); at != life.mappings.end() && at->first < end;
         ++at)
      if (at->second.end > start &&
          (at->second.file != mapping.file ||
           (mapping.file != kNoFile && at->first - at->second.offset != start - mapping.offset)))
        return true;
  }
  return false;
}

void Mappings::fork(uint32_t pid, uint32_t parent, uint64_t time) {
  start_life(pid, time, life(parent, time));
}

void Mappings::exec(uint32_t pid, uint64_t time) {
  start_life(pid, time, kNoLife);
}

Mappings::Place Mappings::find(uint32_t number, uint64_t time, uint64_t address) const {
  for (int n = 0; n < kMostGenerations && number != kNoLife; n++) {
    const Life &life = lives_[number];
    // From the last that starts no later than the address back to the first that can reach it.
    auto last = life.mappings.end();
    for (auto at = life.mappings.upper_bound(address); at != life.mappings.begin();) {
      --at;
      if (address - at->first >= life.longest)
        break;
      if (address < at->second.end && at->second.time <= time &&
          (last == life.mappings.end() || at->second.time > last->second.time))
        last = at;
    }
    if (last != life.mappings.end())
      return {last->second.file, address - last->first + last->second.offset, true};
    time = std::min(time, life.since);
    number = life.parent;
  }
  return {};
}

std::shared_ptr<const MappedCode> Mappings::code(uint32_t number) {
  constexpr size_t kMostKnown = 1024;
  if (code_.size() >= kMostKnown && !code_.contains(number))
    code_.clear();
  KnownCode &known = code_[number];
  if (known.code && known.changes == changes_)
    return known.code;
  const auto code = std::make_shared<MappedCode>();
  uint64_t until = UINT64_MAX;
  for (int n = 0; n < kMostGenerations && number != kNoLife; n++) {
    const Life &life = lives_[number];
    for (const auto &[start, mapping] : life.mappings)
      if (mapping.time <= until)
        code->pieces_.push_back({start, mapping.end, mapping.offset, mapping.time, n,
                                 mapping.file == kNoFile ? nullptr : &files_[mapping.file]});
    until = std::min(until, life.since);
    number = life.parent;
  }
  known = {changes_, code};
  return code;
}

uint32_t Mappings::replacements(uint32_t number, uint64_t time) const {
  if (number == kNoLife)
    return 0;
  const std::vector<uint64_t> &replaced = lives_[number].replaced;
  return uint32_t(std::upper_bound(replaced.begin(), replaced.end(), time) - replaced.begin());
}

bool Mappings::is_doubtful(uint32_t number) const {
  if (!missed_)
    return false;
  for (int n = 0; n < kMostGenerations && number != kNoLife; n++) {
    const Life &life = lives_[number];
    if (life.parent == kNoLife)
      return life.since <= missed_;
    number = life.parent;
  }
  return true;
}

MappedCode::Place MappedCode::find(uint64_t time, uint64_t address) const {
  const Piece *last = nullptr;
  for (const Piece &piece : pieces_) {
    if (last && piece.generation > last->generation)
      break;
    if (address >= piece.start && address < piece.end && piece.time <= time &&
        (!last || piece.time >= last->time))
      last = &piece;
  }
  return last ? Place{last->file, address - last->start + last->offset, true} : Place{};
}

} // namespace ovnitrace
