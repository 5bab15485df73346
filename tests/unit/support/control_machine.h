// SPDX-License-Identifier: BSD-2-Clause
// The state machine of --control in the kernel, with threads that exist in its maps only.
#pragma once

#include "tests/unit/support/error_from.h"
#include "user/control/programs.h"
#include "user/ring/ring_buffer.h"

#include <bpf/bpf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ovnitrace::test {

constexpr uint32_t kMachinePid = 3'000'000; // above pid_max of any machine, below the kernel's own

/// One process with threads in the maps of the BPF object.
class ControlMachine {
public:
  explicit ControlMachine(const control::Plan &plan, const control::ProgramOptions &options = {})
      : programs_(plan, {}, options), plan_(plan) {
    for (size_t c = 0; c < plan.chain_table.size(); c++)
      process_.broadcast[c] =
          plan.chain_table[c].waits ? uint64_t(CONTROL_WAITING) << CONTROL_POSITION_SHIFT : 0;
    update(programs_.processes_map(), kMachinePid, process_);
  }

  /// As begin_thread() of the BPF programs.
  void add_thread() {
    control_thread thread = {};
    thread.pid = kMachinePid;
    thread.number = threads_;
    EXPECT_EQ(bpf_map_lookup_elem(programs_.processes_map(), &kMachinePid, &process_), 0);
    for (size_t c = 0; c < plan_.chain_table.size(); c++) {
      const uint64_t word = process_.broadcast[c];
      thread.places[c].epoch = word >> CONTROL_EPOCH_SHIFT & CONTROL_EPOCH_MASK;
      thread.places[c].position = word >> CONTROL_POSITION_SHIFT & 0xff;
      thread.places[c].round = uint32_t(word);
    }
    update(programs_.threads_map(), kMachinePid + threads_++, thread);
  }
  /// The thread waits until its probes are set.
  void hold(size_t thread) {
    const uint32_t tid = kMachinePid + uint32_t(thread);
    control_thread held = {};
    EXPECT_EQ(bpf_map_lookup_elem(programs_.threads_map(), &tid, &held), 0);
    held.held = 1;
    update(programs_.threads_map(), tid, held);
  }

  control::Programs &programs() { return programs_; }
  uint64_t hit(size_t thread, uint64_t mask) const { return take_hit(thread, mask).fired; }
  control_hit take_hit(size_t thread, uint64_t mask) const {
    return programs_.hit(kMachinePid, kMachinePid + uint32_t(thread), mask);
  }
  uint64_t hits_of(size_t thread, uint32_t alarm) const {
    return programs_.hits_of(kMachinePid, kMachinePid + uint32_t(thread), alarm);
  }
  /// Threads of a process; 0: of all.
  std::vector<std::pair<uint32_t, uint32_t>> threads(uint32_t pid) const {
    auto found = programs_.threads(pid);
    std::sort(found.begin(), found.end());
    return found;
  }

  /// Kind, pid, tid and alarm of the messages to the loader since the last call. Whether the
  /// kernel asks it for visits depends on the kernel's version: those are left out.
  using Messages = std::vector<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>>;
  Messages messages() {
    Messages all;
    messages_.drain(messages_.produced(), [&](const void *data, size_t) {
      const auto &one = *static_cast<const control_message *>(data);
      if (one.kind != CONTROL_VISIT)
        all.emplace_back(one.kind, one.pid, one.tid, one.alarm);
      else
        visits_++;
    });
    return all;
  }
  /// How often messages() has left out that the kernel asked for a visit.
  uint32_t visits() const { return visits_; }
  /// Alarms that the loader was asked to make hit since the last call.
  std::vector<uint32_t> armed() {
    std::vector<uint32_t> alarms;
    for (const auto &[kind, pid, tid, alarm] : messages())
      if (kind == CONTROL_ARMED)
        alarms.push_back(alarm);
    return alarms;
  }

private:
  template <class Value> static void update(int map, uint32_t key, const Value &value) {
    ASSERT_EQ(bpf_map_update_elem(map, &key, &value, BPF_ANY), 0);
  }
  control::Programs programs_;
  RingBuffer messages_{programs_.messages_fd(), control::Programs::kMessageBytes};
  const control::Plan &plan_;
  control_process process_ = {};
  uint32_t threads_ = 0, visits_ = 0;
};

/// Returns why the programs of --control cannot be loaded; empty: they can. It takes a second, and
/// is tried once.
inline const std::string &why_no_control() {
  static const std::string why =
      error_from([] { control::Programs(control::make_plan({"start:int3"}), {}, {}); });
  return why;
}

/// Tests that need the machine.
class ControlMachineTest : public testing::Test {
protected:
  void SetUp() override {
    if (why_no_control().empty())
      return;
    if (geteuid() == 0)
      FAIL() << why_no_control();
    GTEST_SKIP() << "needs BPF: " << why_no_control();
  }
};

} // namespace ovnitrace::test
