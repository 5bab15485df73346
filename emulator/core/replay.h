// SPDX-License-Identifier: BSD-2-Clause
// Replays events through the models, in ovni's pre, emit and post phases.
#pragma once

#include "emulator/core/model.h"
#include "emulator/input/read_ahead.h"

#include <array>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

namespace ovnitrace {

/// Takes part in Replay::play(). A derived class hides the functions that it needs; play() calls
/// these without virtual functions. Those of ThreadObserver are virtual: it learns of a new thread
/// after the replay does.
class ReplayPart : public ThreadObserver {
public:
  /// Takes an event before its effect. Returns false to end the replay.
  bool before(const Event &) { return true; }
  /// Takes it after its effect.
  void after(const Event &) {}
  /// Prefetches what an event needs that comes soon.
  void prefetch(const Event &) {}
};

/// Replays instants in three phases. handle() applies each event of the instant. emit() writes the
/// changes. Then the instant ends: its arrows are dropped, and the models' post hooks run.
class Replay {
public:
  static constexpr size_t kMaxUntakenKinds = 1024;

  /// `catalog` and `sink` must outlive it. Reports at most `fault_limit` faults to the sink.
  Replay(const Catalog &catalog, std::vector<Model> models, const SystemOptions &options,
         DiagnosticSink &sink, uint64_t fault_limit);

  /// Replays all events of a source: the only loop over events. Returns false if `part` ended it.
  template <class Part> bool play(ReadAhead &reader, Part &part) {
    constexpr size_t kAhead = 4; // events
    const Growth growth(*this, part, reader.source());
    for (std::span<const Event> events = reader.next(); !events.empty(); events = reader.next()) {
      for (size_t n = 0; n < events.size(); n++) {
        if (n + kAhead < events.size())
          part.prefetch(events[n + kAhead]);
        if (!part.before(events[n]))
          return false;
        handle(events[n]);
        part.after(events[n]);
      }
    }
    return true;
  }

  void handle(const Event &event);
  /// Writes the changes of the instant. `time`: ns from the start of the trace.
  void emit(uint64_t time, RowSink &threads, RowSink &cpus);
  /// Ends the instant without writing it. Its changes are written with the next one.
  void skip();
  /// Adds faults for what must not be at the end of a trace: pushed states, and what models report.
  void report_end(uint64_t time);

  System &system() { return system_; }
  const FaultLog &faults() const { return faults_; }
  /// Returns the number of events that no model takes, by kind. Beyond kMaxUntakenKinds kinds, they
  /// are counted under kNone.
  const std::map<uint32_t, uint64_t> &untaken() const { return untaken_; }

private:
  /// Passes on what a live source finds out about threads.
  class Growth final : public ThreadObserver {
  public:
    /// Borrows all three.
    Growth(Replay &replay, ThreadObserver &part, EventSource &source);
    ~Growth() override;
    void on_born(uint32_t thread) override;
    void on_named(uint32_t thread) override;
    void on_ended(uint32_t thread) override;

  private:
    Replay &replay_;
    ThreadObserver &part_;
    EventSource &source_;
  };
  struct Taker {
    EventHandler handle; ///< not null
    ModelContext *context;
    bool needs_thread;
  };
  struct Takers {
    bool known = false; ///< a model takes it, even if without effect
    std::vector<Taker> all;
  };
  const Takers *takers_of(uint32_t kind) const {
    return kind < by_code_.size() ? by_code_[kind].known ? &by_code_[kind] : nullptr
                                  : takers_of_mcv(kind);
  }
  const Takers *takers_of_mcv(uint32_t kind) const;
  void not_taken(const Event &event);
  void start_thread(uint32_t thread);
  void end_instant();

  System system_;
  FaultLog faults_;
  std::vector<Arrow> arrows_;
  std::vector<Model> models_;
  std::deque<ModelContext> contexts_;
  std::vector<size_t> with_post_, with_born_;   ///< models with such a hook
  std::array<Takers, 256> by_code_;             ///< FTrace
  std::unordered_map<uint32_t, Takers> by_mcv_; ///< ovni streams
  std::array<bool, 256> known_letters_ = {};    ///< models of ovni whose events are all known
  std::map<uint32_t, uint64_t> untaken_;
};

} // namespace ovnitrace
