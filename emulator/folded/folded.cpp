// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/folded/folded.h"

#include "emulator/format/call_names.h"

#include <fmt/format.h>

#include <algorithm>

namespace ovnitrace {

namespace {

/// Returns a name as one element of a line: a semicolon would end the element.
std::string element(std::string name) {
  std::replace(name.begin(), name.end(), ';', ':');
  return name;
}

std::string named(const std::string &name, uint32_t id, bool with_id) {
  if (name.empty())
    return fmt::format("[{}]", id);
  return element(with_id ? fmt::format("{} ({})", name, id) : name);
}

} // namespace

Folded::Folded(const Catalog &catalog, const Stacks &stacks, FoldedOptions options)
    : catalog_(catalog), stacks_(stacks), options_(options), gate_(options.program),
      roots_(catalog.threads.size(), kNone) {}

uint32_t Folded::root_of(uint32_t thread) {
  if (roots_[thread] != kNone)
    return roots_[thread];
  const ThreadInfo &info = catalog_.threads[thread];
  // The main thread has the name of its process; rows are by process, the main thread first.
  const ThreadInfo *main = &info;
  for (uint32_t t = thread; t > 0 && catalog_.threads[t - 1].pid == info.pid &&
                            catalog_.threads[t - 1].host == info.host;)
    main = &catalog_.threads[--t];
  const std::string name = named(main->name, info.pid, options_.per_thread) + ";" +
                           named(info.name, info.tid, options_.per_thread);
  const auto [at, added] = root_names_.try_emplace(name, uint32_t(names_.size()));
  if (added)
    names_.push_back(name);
  return roots_[thread] = at->second;
}

void Folded::on_slice(const Slice &slice) {
  const bool blocked = is_blocked(slice.state);
  if (gate_.is_closed(slice) || (!blocked && !is_waiting(slice.state)) || slice.length() == 0)
    return;
  const ThreadInfo &thread = catalog_.threads[slice.thread];
  const bool known = !stacks_.of_thread(thread).frames(slice.stack).empty();
  const Key key = {.root = root_of(slice.thread),
                   .host = thread.host,
                   .stack = known ? slice.stack : kNone,
                   .call = blocked && !known ? slice.call : uint16_t(FTRACE_CALL_UNKNOWN),
                   .waits = !blocked};
  times_[key] += slice.length();
  (blocked ? blocked_ : waiting_) += slice.length();
  no_stack_ += blocked && !known ? slice.length() : 0;
}

/// Returns the frames from the root outward: callers before callees.
std::string Folded::text_of(const Key &key) const {
  std::string text = names_[key.root];
  const StackTable &table = stacks_.of_host(key.host);
  const auto frames = table.frames(key.stack);
  for (size_t n = frames.size(); n-- > 0;)
    text += ";" + element(table.name(frames[n])) + (table.frame(frames[n]).kernel ? "_[k]" : "");
  if (key.waits)
    return text + ";[waiting for a CPU]";
  if (!frames.empty())
    return text;
  const std::string_view call = call_name(catalog_.hosts[key.host].machine, key.call);
  return text + ";" + (call.empty() ? "[blocked]" : fmt::format("[{}]", call));
}

void Folded::lines(const std::function<void(std::string_view)> &take) const {
  std::map<std::string, uint64_t> sums; // several stacks can have one text
  for (const auto &[key, time] : times_)
    sums[text_of(key)] += time;
  for (const auto &[text, time] : sums)
    take(fmt::format("{} {}", text, time));
}

} // namespace ovnitrace
