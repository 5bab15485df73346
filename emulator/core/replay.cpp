// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/core/replay.h"
#include "emulator/format/event_names.h"

#include <fmt/format.h>

namespace ovnitrace {

Replay::Replay(const Catalog &catalog, std::vector<Model> models, const SystemOptions &options,
               DiagnosticSink &sink, uint64_t fault_limit)
    : system_(catalog, options), faults_(catalog, sink, fault_limit), models_(std::move(models)) {
  for (const Model &model : models_) {
    ModelContext &context = contexts_.emplace_back(
        ModelContext{system_, faults_, arrows_, system_.channels().size(), {}});
    for (const ChannelDef &def : model.channels)
      system_.channels().declare(def);
    for (const EventDef &event : model.events) {
      Takers &takers = event.kind < by_code_.size() ? by_code_[event.kind] : by_mcv_[event.kind];
      takers.known = true;
      if (event.handle)
        takers.all.push_back({event.handle, &context, event.needs_thread});
      if (event.kind > 0xff)
        known_letters_[event.kind >> 16 & 0xff] = true;
    }
  }
  // After all tables: a model may declare more channels when it starts, which follow those.
  for (size_t m = 0; m < models_.size(); m++) {
    if (models_[m].start)
      models_[m].start(contexts_[m]);
    if (models_[m].post)
      with_post_.push_back(m);
    if (models_[m].born)
      with_born_.push_back(m);
  }
  for (uint32_t t = 0; t < catalog.threads.size(); t++)
    start_thread(t);
}

void Replay::start_thread(uint32_t thread) {
  for (const size_t m : with_born_)
    models_[m].born(contexts_[m], thread);
}

Replay::Growth::Growth(Replay &replay, ThreadObserver &part, EventSource &source)
    : replay_(replay), part_(part), source_(source) {
  source_.observe(this);
}

Replay::Growth::~Growth() {
  source_.observe(nullptr);
}

void Replay::Growth::on_born(uint32_t thread) {
  replay_.system_.add_thread();
  replay_.start_thread(thread);
  part_.on_born(thread);
}

void Replay::Growth::on_named(uint32_t thread) {
  part_.on_named(thread);
}

void Replay::Growth::on_ended(uint32_t thread) {
  replay_.system_.free_tid(thread);
  part_.on_ended(thread);
}

const Replay::Takers *Replay::takers_of_mcv(uint32_t kind) const {
  auto at = by_mcv_.find(kind);
  if (at == by_mcv_.end())
    at = by_mcv_.find(kind & ~0xffu);
  return at == by_mcv_.end() ? nullptr : &at->second;
}

void Replay::not_taken(const Event &event) {
  bool room = untaken_.size() < kMaxUntakenKinds || untaken_.count(event.kind);
  untaken_[room ? event.kind : kNone]++;
  if (event.kind > 0xff && known_letters_[event.kind >> 16 & 0xff])
    faults_.add(event, [&] {
      return fmt::format("{} of {}: its model has no such event", kind_name(event.kind),
                         thread_name(system_.catalog(), event.thread));
    });
}

void Replay::handle(const Event &event) {
  const Takers *takers = takers_of(event.kind);
  if (!takers)
    return not_taken(event);
  system_.begin_event(event.time);
  for (const Taker &taker : takers->all)
    if (event.thread != kNone || !taker.needs_thread)
      taker.handle(*taker.context, event);
}

void Replay::emit(uint64_t time, RowSink &threads, RowSink &cpus) {
  system_.channels().emit(time, threads, cpus);
  for (const Arrow &arrow : arrows_)
    threads.arrow(time, arrow.from, arrow.to, 1, arrow.tag);
  end_instant();
}

void Replay::skip() {
  system_.channels().skip();
  end_instant();
}

void Replay::end_instant() {
  arrows_.clear();
  for (const size_t m : with_post_)
    models_[m].post(contexts_[m]);
}

void Replay::report_end(uint64_t time) {
  Event end;
  end.time = time;
  end.file = kNoFile;
  system_.channels().for_each_left(
      [&](ChannelId id, uint32_t row, const std::vector<int64_t> &stack) {
        faults_.add(end, [&] {
          return fmt::format("channel '{}' of {} ends with {} state{} on its stack, {} on top{}",
                             system_.channels().def(id).name, thread_name(system_.catalog(), row),
                             stack.size(), stack.size() == 1 ? "" : "s", stack.back(),
                             system_.catalog().ovni ? " (ovniemu accepts that)" : "");
        });
      });
  for (size_t m = 0; m < models_.size(); m++)
    if (models_[m].check_end)
      models_[m].check_end(contexts_[m], end);
}

} // namespace ovnitrace
