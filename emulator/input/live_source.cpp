// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/live_source.h"

#include <utility>

namespace ovnitrace {

namespace {

uint64_t key_of(uint32_t host, uint32_t tid) {
  return uint64_t(host) << 32 | tid;
}

uint64_t key_of(const ThreadInfo &thread) {
  return key_of(thread.host, thread.tid);
}

} // namespace

LiveSource::LiveSource(Catalog known, DiagnosticSink &sink)
    : EventSource(sink), catalog_(std::move(known)) {
  catalog_.live = true;
  catalog_.end = UINT64_MAX;
  for (uint32_t t = 0; t < catalog_.threads.size(); t++)
    alive_[key_of(catalog_.threads[t])] = t;
}

uint32_t LiveSource::born(ThreadInfo thread) {
  const auto index = uint32_t(catalog_.threads.size());
  alive_[key_of(thread)] = index;
  catalog_.threads.push_back(std::move(thread));
  if (observer())
    observer()->on_born(index);
  return index;
}

void LiveSource::named(uint32_t thread, std::string name) {
  catalog_.threads[thread].name = std::move(name);
  if (observer())
    observer()->on_named(thread);
}

void LiveSource::ended(uint32_t thread) {
  const auto at = alive_.find(key_of(catalog_.threads[thread]));
  if (at != alive_.end() && at->second == thread)
    alive_.erase(at);
  if (observer())
    observer()->on_ended(thread);
}

uint32_t LiveSource::find(uint32_t host, uint32_t tid) const {
  const auto at = alive_.find(key_of(host, tid));
  return at == alive_.end() ? kNone : at->second;
}

} // namespace ovnitrace
