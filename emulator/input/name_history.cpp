// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/name_history.h"

#include <algorithm>

namespace ovnitrace {

void NameHistory::add(uint64_t time, const ThreadName &name, bool renames) {
  const auto next = std::upper_bound(all_.begin(), all_.end(), time,
                                     [](uint64_t t, const Said &said) { return t < said.time; });
  if (!renames) { // mostly it says what is known
    if (next != all_.begin() && std::prev(next)->name.raw() == name.raw())
      return;
    if (next != all_.end() && !next->renames && next->name.raw() == name.raw()) {
      next->time = time;
      return;
    }
  }
  if (all_.size() < kMost)
    all_.insert(next, {time, name, renames});
}

void NameHistory::join(const NameHistory &other) {
  for (const Said &said : other.all_)
    add(said.time, said.name, said.renames);
}

std::vector<EarlierName> NameHistory::before(const ThreadName &last) const {
  std::vector<EarlierName> names;
  const ThreadName *now = all_.empty() ? &last : &all_.front().name;
  const auto change = [&](uint64_t time, const ThreadName &to) {
    if (to.raw() != now->raw() && !now->empty())
      names.push_back({time, now->text()});
    now = &to;
  };
  for (auto said = all_.begin(); said != all_.end(); ++said) {
    const auto rename =
        std::find_if(said, all_.end(), [](const Said &later) { return later.renames; });
    if (said->renames || rename == all_.end() || rename->name.raw() != said->name.raw())
      change(said->time, said->name);
  }
  if (!all_.empty())
    change(all_.back().time, last);
  return names;
}

} // namespace ovnitrace
