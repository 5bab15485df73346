// SPDX-License-Identifier: BSD-2-Clause
// A replay with as many threads and CPUs as a test needs, fed event by event.
#pragma once

#include "emulator/core/replay.h"
#include "emulator/models/registry.h"
#include "tests/unit/support/collecting_rows.h"
#include "tests/unit/support/collecting_sink.h"

#include <ovnitrace/ftrace_codes.h>

#include <string>
#include <vector>

namespace ovnitrace::test {

/// Threads 0, 1, … have the tids 100, 101, …, all of process 100; CPUs are 0, 1, …. Each event is
/// an instant of its own unless its time is that of the one before. Several hosts take threads and
/// CPUs alternately.
class ReplayRig {
public:
  explicit ReplayRig(uint32_t threads = 2, uint32_t cpus = 2,
                     std::vector<Model> models = builtin_models(), bool virtual_cpus = false,
                     uint32_t hosts = 1)
      : catalog_(make_catalog(threads, cpus, hosts)),
        replay(catalog_, std::move(models), options(virtual_cpus), sink, FaultLog::kUnlimited) {}

  ReplayRig &at(uint64_t time) {
    if (time != now_)
      flush();
    now_ = time;
    return *this;
  }
  /// An FTrace record about a thread, logged on a CPU.
  ReplayRig &ftrace(uint32_t code, uint32_t thread, uint32_t cpu = 0, uint32_t par2 = 0,
                    uint32_t peer = kNone, uint16_t par1 = 0) {
    Event event;
    event.time = now_;
    event.kind = code;
    event.thread = thread;
    event.cpu = cpu;
    event.par1 = par1;
    event.par2 = par2;
    event.peer = peer;
    event.offset = 16 * events_++;
    replay.handle(event);
    return *this;
  }
  /// A record of a plain FTrace file, in the words of the manual.
  ReplayRig &manual(uint32_t code, uint32_t thread, uint32_t par2 = 0) {
    Event event;
    event.time = now_;
    event.kind = code;
    event.thread = thread;
    event.cpu = 0;
    event.par2 = par2;
    event.by_manual = true;
    replay.handle(event);
    return *this;
  }
  ReplayRig &dispatch(uint32_t thread, uint32_t cpu = 0, uint32_t par2 = 0) {
    return ftrace(FTrace_EVT_task_dispatch, thread, cpu, par2);
  }
  ReplayRig &epilogue(uint32_t thread, uint32_t cpu = 0, uint32_t par2 = 0) {
    return ftrace(FTrace_EVT_task_epilogue, thread, cpu, par2);
  }
  ReplayRig &sleep(uint32_t thread, uint32_t cpu = 0, uint32_t par2 = 0) {
    return ftrace(FTrace_EVT_task_sleep, thread, cpu, par2);
  }
  /// The same in a system call, by enum ftrace_call.
  ReplayRig &blocked(uint32_t thread, uint16_t call) {
    Event event;
    event.time = now_;
    event.kind = FTrace_EVT_task_sleep;
    event.thread = thread;
    event.cpu = 0;
    event.par2 = FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT;
    event.call = call;
    replay.handle(event);
    return *this;
  }
  ReplayRig &end(uint32_t thread, uint32_t cpu = 0) {
    return ftrace(FTrace_EVT_task_end, thread, cpu);
  }
  ReplayRig &activate(uint32_t thread, uint32_t cpu = 0, uint32_t par2 = 0, uint32_t peer = kNone) {
    return ftrace(FTrace_EVT_task_activate, thread, cpu, par2, peer);
  }
  ReplayRig &user(uint32_t number, uint32_t thread, uint32_t par2, uint16_t par1 = 0) {
    return ftrace(number << 4 | FTrace_EVT_user_event_0, thread, 0, par2, kNone, par1);
  }
  /// An event of an ovni stream: "OHx" and its payload as 32-bit numbers.
  ReplayRig &ovni(const char *name, uint32_t thread, std::vector<int32_t> payload = {},
                  uint32_t peer = kNone) {
    Event event;
    event.time = now_;
    event.kind = mcv(name[0], name[1], name[2]);
    event.thread = thread;
    event.peer = peer;
    event.payload = reinterpret_cast<const uint8_t *>(payload.data());
    event.payload_size = uint32_t(payload.size() * sizeof(int32_t));
    event.offset = 16 * events_++;
    replay.handle(event);
    return *this;
  }
  ReplayRig &flush() {
    replay.emit(now_, threads, cpus);
    return *this;
  }

  ThreadState state(uint32_t thread) { return replay.system().threads()[thread].state; }
  uint32_t cpu(uint32_t thread) { return replay.system().threads()[thread].cpu; }
  uint64_t faults() const { return replay.faults().count(); }
  std::string last_fault() const { return sink.reported.empty() ? "" : sink.reported.back().what; }

  CollectingSink sink;
  CollectingRows threads, cpus;

private:
  static Catalog make_catalog(uint32_t threads, uint32_t cpus, uint32_t hosts) {
    Catalog catalog;
    catalog.hosts.assign(hosts, {"node"});
    catalog.files = {"cpu0000.ftr"};
    for (uint32_t c = 0; c < cpus; c++)
      catalog.cpus.push_back({c, c % hosts});
    for (uint32_t t = 0; t < threads; t++) {
      catalog.threads.emplace_back();
      catalog.threads.back().tid = 100 + t;
      catalog.threads.back().pid = 100;
      catalog.threads.back().host = t % hosts;
      catalog.threads.back().name = "t" + std::to_string(t);
    }
    return catalog;
  }
  static SystemOptions options(bool virtual_cpus) {
    SystemOptions options;
    options.virtual_cpus = virtual_cpus;
    return options;
  }

  Catalog catalog_;
  uint64_t now_ = 0;
  uint64_t events_ = 0;

public:
  Replay replay; ///< after what it refers to
};

} // namespace ovnitrace::test
