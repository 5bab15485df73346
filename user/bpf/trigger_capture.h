// SPDX-License-Identifier: BSD-2-Clause
// Loads the BPF object of a --trigger that the kernel side decides.
#pragma once

#include "user/bpf/capture.h"
#include "user/ring/ring_buffer.h"

#include <ovnitrace/trigger.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct trigger_bpf;

namespace ovnitrace {

/// A kind of trigger_rule, as --trigger names it.
struct TriggerKindName {
  trigger_kind kind;
  std::string_view name;
  std::string_view form; ///< for messages
  bool has_time;         ///< otherwise, it needs a pattern of names
};

inline constexpr TriggerKindName kTriggerKinds[] = {
    {TRIGGER_LATENCY, "latency", "latency:TIME[:GLOB]", true},
    {TRIGGER_BLOCKED, "blocked", "blocked:TIME[:GLOB]", true},
    {TRIGGER_PREEMPTED, "preempted", "preempted:TIME[:GLOB]", true},
    {TRIGGER_IDLE, "idle-while-waiting", "idle-while-waiting:TIME[:GLOB]", true},
    {TRIGGER_EXIT, "exit", "exit:GLOB", false},
};

/// Returns a hit in words: "latency 7.200 ms of redis-server(4711)". The name may hold any bytes.
std::string text_of(const trigger_rule &rule, const trigger_hit &hit);

/// Returns the cause of a save, with the number of the hit if it is not the first.
std::string with_number(const std::string &cause, uint64_t hits);

/// Chooses the programs and the sizes of the maps of an object that is not loaded yet. `cpus`:
/// those that are possible.
void prepare_trigger(trigger_bpf &object, const trigger_rule &rule, uint32_t cpus);

/// Loads and attaches bpf/trigger.bpf.c.
class TriggerCapture {
public:
  /// `capture`, which is loaded, outlives it. The rule has a kind. Throws Error.
  TriggerCapture(const Capture &capture, const trigger_rule &rule);

  /// Lets the trigger hit from here on. REQUIRES: Capture::attach() was called. Throws Error.
  void attach();
  /// Ends that. May be called several times.
  void detach();

  int file() const; ///< of poll(2): readable if take() returns a hit
  /// Returns the newest hit that was sent since the last call; nothing if none was.
  std::optional<trigger_hit> take();
  /// Returns how often it has hit until now or detach(), also without a message.
  uint64_t hits() const;

private:
  std::unique_ptr<trigger_bpf, void (*)(trigger_bpf *)> skeleton_;
  std::optional<RingBuffer> ring_;
};

} // namespace ovnitrace
