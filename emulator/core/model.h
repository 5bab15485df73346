// SPDX-License-Identifier: BSD-2-Clause
// Defines a model: its channels, and a table of what each event does to them.
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

/// A communication, drawn from one thread to another at the time of the event.
struct Arrow {
  uint32_t from = kNone, to = kNone; ///< threads
  uint32_t tag = 0;
};

/// Gives the handlers of a model access to the replay. The number of a channel is its place in the
/// model's list.
struct ModelContext {
  System &system;
  FaultLog &faults;
  std::vector<Arrow> &arrows;
  ChannelId first = 0;              ///< id of the model's channel 0
  std::shared_ptr<void> state = {}; ///< the model's own, made by its `start` with keep()

  template <class T> void keep(T own) { state = std::make_shared<T>(std::move(own)); }
  /// Returns what was given to keep(), of the same type.
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
  /// Draws an arrow, unless there are too many of this instant.
  void arrow(const Arrow &arrow) {
    if (arrows.size() < kMostOfAnInstant)
      arrows.push_back(arrow);
  }
  /// Push or pop, and report faults with thread, channel, expected and found value.
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

/// An event that a model takes. If several models take an event, they see it in the order of the
/// registry.
struct EventDef {
  uint32_t kind;       ///< FTrace code or mcv(); a value letter of 0 takes the rest of its category
  EventHandler handle; ///< nullptr: known, but without effect
  std::string what;    ///< what it does, in one line
  bool needs_thread = true; ///< skipped if the thread is not known, which the input has reported
};

struct Model {
  std::string name;
  std::string about; ///< one line
  std::vector<ChannelDef> channels = {};
  std::vector<EventDef> events = {};
  std::function<void(ModelContext &)> start = {}; ///< called before the first event; may be empty
  /// Called for each thread after `start`, or when the thread is found. May be empty.
  std::function<void(ModelContext &, uint32_t thread)> born = {};
  /// Called when an instant has been emitted or skipped, before the next event: ovni's "post"
  /// phase. May be empty.
  std::function<void(ModelContext &)> post = {};
  /// Reports faults after a whole trace was replayed, at an event of no file. May be empty.
  std::function<void(ModelContext &, const Event &)> check_end = {};
};

/// Returns how messages call a thread: "name (tid)" or "thread tid".
std::string thread_name(const Catalog &catalog, uint32_t thread);
/// Returns "CPU n", with its host if there are several; "no CPU" for kNone.
std::string cpu_name(const System &system, uint32_t cpu);

} // namespace ovnitrace
