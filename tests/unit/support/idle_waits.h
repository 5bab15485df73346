// SPDX-License-Identifier: BSD-2-Clause
// The waits of a trace, and what emulator/slices/idle_watch says of each.
#pragma once

#include "emulator/open/open_trace.h"
#include "emulator/slices/idle_watch.h"
#include "emulator/slices/slicer.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace::test {

inline constexpr char kAllThreads[] = R"({"format":"ovnitrace","version":1,"all_threads":true})";
inline constexpr uint32_t kPaused = 2;

/// Every wait of a trace: "tid start-end …".
class Waits final : public SliceSink {
public:
  explicit Waits(const Catalog &catalog) : catalog_(catalog) {}
  void on_event(const Event &event, const System &system) override {
    watch.on_event(event, system);
  }
  void on_slice(const Slice &slice) override {
    if (slice.state != ThreadState::Cooling && slice.state != ThreadState::Warming)
      return;
    const IdleElsewhere idle = watch.of(slice);
    std::string text = fmt::format("{} {}-{}", catalog_.threads[slice.thread].tid,
                                   slice.start - catalog_.begin, slice.end - catalog_.begin);
    if (!idle.known)
      text += " unknown";
    if (idle.ns)
      text += fmt::format(" {} ns, {} ns on {}", idle.ns, idle.cpu_ns, idle.cpu);
    if (idle.forbidden_ns)
      text += fmt::format("; may not: {} ns", idle.forbidden_ns);
    if (idle.forbidden_cpu_ns)
      text += fmt::format(", {} ns on {}", idle.forbidden_cpu_ns, idle.forbidden_cpu);
    texts.push_back(text);
    if (idle.known)
      text += fmt::format("; causes {}", fmt::join(idle.causes.ns, " "));
    with_causes.push_back(text);
  }

  IdleWatch watch;
  std::vector<std::string> texts, with_causes;

private:
  const Catalog &catalog_;
};

} // namespace ovnitrace::test
