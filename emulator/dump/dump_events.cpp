// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/dump/dump_events.h"

#include "emulator/core/replay.h"
#include "emulator/models/registry.h"
#include "emulator/models/user_thread.h"

namespace ovnitrace {

namespace {

class Dump final : public ReplayPart {
public:
  /// Borrows all.
  Dump(Replay &replay, const Cut &cut, uint64_t from, const PutEvent &put)
      : replay_(replay), catalog_(replay.system().catalog()), cut_(cut), from_(from),
        to_(range_of(cut, catalog_).to), kept_(kept_threads(cut, catalog_)), line_(catalog_),
        put_(put) {}

  bool before(const Event &event) { return !ended_ && event.time <= to_; }
  void after(const Event &event) {
    replay_.skip(); // no channel is written
    const uint32_t thread = thread_of(event, replay_.system());
    if (thread == event.thread)
      return show(event);
    Event found = event;
    found.thread = thread;
    show(found);
  }
  void on_born(uint32_t thread) override {
    kept_.push_back(cut_.keeps(catalog_.threads[thread]));
    line_.add_thread();
  }
  void on_named(uint32_t thread) override {
    kept_[thread] = cut_.keeps(catalog_.threads[thread]);
    line_.name_thread(thread);
  }

private:
  void show(const Event &event) {
    const bool kept = event.thread == kNone
                          ? !cut_.chooses_threads() || event.kind != FTrace_EXT_holder
                          : kept_[event.thread];
    if (kept && event.time >= from_ && has_happened(event))
      ended_ = !put_(line_, event);
  }

  Replay &replay_;
  const Catalog &catalog_;
  const Cut &cut_;
  const uint64_t from_, to_; ///< ns
  std::vector<uint8_t> kept_;
  DumpLine line_;
  const PutEvent &put_;
  bool ended_ = false;
};

} // namespace

void dump_events(EventSource &source, const Cut &cut, uint64_t from, const PutEvent &put) {
  check_cut(cut, source.catalog());
  NoDiagnostics silent;
  Replay replay(source.catalog(), state_models(), {}, silent, 0);
  Dump dump(replay, cut, from, put);
  ReadAhead reader(source);
  replay.play(reader, dump);
}

} // namespace ovnitrace
