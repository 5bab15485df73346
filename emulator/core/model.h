// SPDX-License-Identifier: BSD-2-Clause
// What a model is: channels, and what each event does to them, in one table.
#pragma once

#include "emulator/core/fault_log.h"
#include "emulator/core/system.h"
#include "emulator/format/event.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {

/// A communication to be drawn from one thread to another, at the time of the event.
struct Arrow {
  uint32_t from = kNone, to = kNone; ///< threads
  uint32_t tag = 0;
};

/// What the handlers of one model work with. Channels are numbered as the model declares them.
struct ModelContext {
  System &system;
  FaultLog &faults;
  std::vector<Arrow> &arrows;
  ChannelId first = 0;              ///< id of the model's channel 0
  std::shared_ptr<void> state = {}; ///< the model's own, made by its `start` with keep()

  template <class T> void keep(T own) { state = std::make_shared<T>(std::move(own)); }
  /// What was given to keep(), of the same type.
  template <class T> T &own() const { return *static_cast<T *>(state.get()); }

  void set(uint32_t channel, uint32_t row, int64_t value) {
    system.channels().set(first + channel, row, value);
  }
  int64_t value(uint32_t channel, uint32_t row) const {
    return system.channels().value(first + channel, row);
  }
  void punctual(uint32_t channel, uint32_t row, int64_t value) {
    system.channels().punctual(first + channel, row, value);
  }
  /// These report what is wrong, with thread, channel, expected and found value.
  void push(const Event &event, uint32_t channel, uint32_t thread, int64_t value) {
    push_id(event, first + channel, thread, value);
  }
  void pop(const Event &event, uint32_t channel, uint32_t thread, int64_t value) {
    pop_id(event, first + channel, thread, value);
  }
  void push_id(const Event &event, ChannelId id, uint32_t thread, int64_t value);
  void pop_id(const Event &event, ChannelId id, uint32_t thread, int64_t value);
};

using EventHandler = void (*)(ModelContext &, const Event &);

/// An event that a model takes. Several models may take one event: they see it in the order of the
/// registry.
struct EventDef {
  uint32_t kind;            ///< FTrace code or mcv(); with a value of 0 all others of its category
  EventHandler handle;      ///< nullptr: known, but without effect
  std::string what;         ///< what it does, in one line
  bool needs_thread = true; ///< skipped when the thread is not known, which its input has reported
};

struct Model {
  std::string name;
  std::string about; ///< one line
  std::vector<ChannelDef> channels = {};
  std::vector<EventDef> events = {};
  std::function<void(ModelContext &)> start = {}; ///< before the first event; may be empty
  /// ovni's "post" phase: called when an instant has been emitted or skipped, before the next
  /// event; may be empty.
  std::function<void(ModelContext &)> post = {};
  /// Reports faults of a trace that was replayed whole, at an event of no file; may be empty.
  std::function<void(ModelContext &, const Event &)> check_end = {};
};

/// "name (tid)" or "thread tid": how messages call a thread.
std::string thread_name(const Catalog &catalog, uint32_t thread);
/// "CPU n", with its host where there are several; "no CPU" for kNone.
std::string cpu_name(const System &system, uint32_t cpu);

} // namespace ovnitrace
