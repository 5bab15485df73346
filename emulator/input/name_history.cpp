// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/name_history.h"

#include <algorithm>

namespace ovnitrace {

void NameHistory::add(uint64_t time, const ThreadName &name, Said how) {
  const auto next = std::upper_bound(all_.begin(), all_.end(), time,
                                     [](uint64_t t, const Record &said) { return t < said.time; });
  if (how == Said::again) { // mostly it says what is known
    if (next != all_.begin() && std::prev(next)->name.raw() == name.raw())
      return;
    if (next != all_.end() && !next->renames() && next->name.raw() == name.raw()) {
      next->time = time;
      return;
    }
  }
  if (all_.size() < kMost)
    all_.insert(next, {time, name, how});
}

void NameHistory::join(const NameHistory &other) {
  for (const Record &said : other.all_)
    add(said.time, said.name, said.how);
}

std::vector<EarlierName> NameHistory::before(const ThreadName &last, bool is_new) const {
  std::vector<EarlierName> names;
  const ThreadName *now = all_.empty() ? &last : &all_.front().name;
  const auto change = [&](uint64_t time, const ThreadName &to, Said how) {
    const bool names_itself = is_new && how == Said::renamed;
    if (to.raw() != now->raw() && !now->empty() && !names_itself)
      names.push_back({time, now->text()});
    is_new &= how == Said::again && to.raw() == now->raw();
    now = &to;
  };
  for (auto said = all_.begin(); said != all_.end(); ++said) {
    const auto rename =
        std::find_if(said, all_.end(), [](const Record &later) { return later.renames(); });
    if (said->renames() || rename == all_.end() || rename->name.raw() != said->name.raw())
      change(said->time, said->name, said->how);
  }
  if (!all_.empty())
    change(all_.back().time, last, Said::again);
  return names;
}

} // namespace ovnitrace
