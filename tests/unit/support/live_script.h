// SPDX-License-Identifier: BSD-2-Clause
// One story of threads, told by a live source and by files.
#pragma once

#include "emulator/input/live_source.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/trace_builder.h"

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace::test {

/// Hosts with kCpus CPUs each, which are recorded from kBegin to the last step + 100 ns.
class LiveScript {
public:
  static constexpr uint32_t kCpus = 2;
  static constexpr uint64_t kBegin = 100;

  struct Step {
    enum class What : uint8_t { born, named, ended, event } what = What::event;
    uint64_t time = 0;
    uint32_t host = 0, tid = 0;
    ThreadInfo thread = {}; ///< of a thread that is born, or its new name
    uint32_t cpu = 0, kind = 0, par2 = 0, peer_tid = 0;
  };

  explicit LiveScript(uint32_t hosts) : hosts_(hosts) {}

  LiveScript &at(uint64_t time, uint32_t host = 0) {
    time_ = time;
    host_ = host;
    return *this;
  }
  LiveScript &born(uint32_t tid, uint32_t pid, const std::string &name) {
    ThreadInfo thread;
    thread.tid = tid;
    thread.pid = pid;
    thread.host = host_;
    thread.birth = time_;
    thread.name = name;
    return add({.what = Step::What::born, .tid = tid, .thread = thread});
  }
  LiveScript &named(uint32_t tid, const std::string &name) {
    ThreadInfo thread;
    thread.name = name;
    return add({.what = Step::What::named, .tid = tid, .thread = thread});
  }
  LiveScript &ended(uint32_t tid) { return add({.what = Step::What::ended, .tid = tid}); }
  LiveScript &event(uint32_t cpu, uint32_t kind, uint32_t tid, uint32_t par2 = 0,
                    uint32_t peer_tid = 0) {
    return add({.tid = tid, .cpu = cpu, .kind = kind, .par2 = par2, .peer_tid = peer_tid});
  }
  LiveScript &dispatch(uint32_t cpu, uint32_t tid) {
    return event(cpu, FTrace_EVT_task_dispatch, tid);
  }
  LiveScript &sleep(uint32_t cpu, uint32_t tid, uint32_t next = 0) {
    const uint32_t reason = FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT;
    return event(cpu, FTrace_EVT_task_sleep, tid, next | reason, next);
  }
  LiveScript &preempted(uint32_t cpu, uint32_t tid, uint32_t next = 0) {
    const uint32_t reason = FTRACE_OFFCPU_PREEMPTED << FTRACE_REASON_SHIFT;
    return event(cpu, FTrace_EVT_task_epilogue, tid, next | reason, next);
  }
  LiveScript &woken(uint32_t cpu, uint32_t tid, uint32_t waker) {
    return event(cpu, FTrace_EVT_task_activate, tid, waker, waker);
  }
  LiveScript &end(uint32_t cpu, uint32_t tid) { return event(cpu, FTrace_EVT_task_end, tid, tid); }

  const std::vector<Step> &steps() const { return steps_; }
  uint32_t hosts() const { return hosts_; }
  uint64_t end_time() const { return time_ + 100; }

  /// Writes the files below `path` and opens them. Each CPU introduces a thread when it first names
  /// it. REQUIRES: no step is named().
  std::unique_ptr<EventSource> open_files(const std::string &path, DiagnosticSink &sink) const {
    std::vector<std::unique_ptr<TraceBuilder>> traces;
    std::vector<TraceInput> inputs;
    for (uint32_t host = 0; host < hosts_; host++) {
      const std::string dir = path + "/" + std::to_string(host);
      std::filesystem::create_directory(dir);
      traces.push_back(std::make_unique<TraceBuilder>(dir));
      inputs.push_back({dir});
      traces.back()->json("{\"version\": 1, \"host\": \"" + std::to_string(host) + "\"}");
      for (uint16_t cpu = 0; cpu < kCpus; cpu++)
        traces.back()->cpu(cpu).at(kBegin).start();
    }
    struct Alive {
      uint16_t context;
      ThreadInfo thread;
    };
    std::map<std::pair<uint32_t, uint32_t>, Alive> alive; // by host and tid
    std::set<std::pair<uint16_t, uint32_t>> introduced;   // context and CPU
    uint16_t contexts = 0;
    for (const Step &step : steps_) {
      const auto introduce = [&, this](uint32_t tid, uint32_t cpu) {
        const Alive &of = alive.at({step.host, tid});
        ChunkBuilder &chunk = traces[step.host]->cpu(uint16_t(cpu)).at(step.time);
        if (introduced.emplace(of.context, cpu).second)
          chunk.id(of.context, tid, of.thread.pid, of.thread.name, of.thread.birth);
        return of.context;
      };
      if (step.what == Step::What::born) {
        alive[{step.host, step.tid}] = {++contexts, step.thread};
      } else if (step.what == Step::What::event) {
        if (step.peer_tid)
          introduce(step.peer_tid, step.cpu);
        const uint16_t context = introduce(step.tid, step.cpu);
        traces[step.host]->cpu(uint16_t(step.cpu)).record(uint16_t(step.kind), context, step.par2);
      }
    }
    for (const auto &trace : traces) {
      for (uint16_t cpu = 0; cpu < kCpus; cpu++)
        trace->cpu(cpu).at(end_time()).stop();
      trace->write();
    }
    return open_trace(inputs, sink);
  }

private:
  LiveScript &add(Step step) {
    step.time = time_;
    step.host = host_;
    steps_.push_back(std::move(step));
    return *this;
  }

  uint32_t hosts_;
  uint64_t time_ = kBegin;
  uint32_t host_ = 0;
  std::vector<Step> steps_;
};

/// The live source: it knows hosts and CPUs, and of threads only what the steps so far say.
class ScriptSource final : public LiveSource {
public:
  ScriptSource(const LiveScript &script, DiagnosticSink &sink)
      : LiveSource(known(script), sink), script_(script) {}

  bool next(Event &event) override {
    for (; at_ < script_.steps().size(); at_++) {
      const LiveScript::Step &step = script_.steps()[at_];
      switch (step.what) {
      case LiveScript::Step::What::born:
        born(step.thread);
        break;
      case LiveScript::Step::What::named:
        named(find(step.host, step.tid), step.thread.name);
        break;
      case LiveScript::Step::What::ended:
        ended(find(step.host, step.tid));
        break;
      case LiveScript::Step::What::event:
        event = {};
        event.time = step.time;
        event.kind = step.kind;
        event.cpu = step.host * LiveScript::kCpus + step.cpu;
        event.thread = find(step.host, step.tid);
        event.peer = step.peer_tid ? find(step.host, step.peer_tid) : kNone;
        event.par2 = step.par2;
        at_++;
        return true;
      }
    }
    end_at(script_.end_time());
    return false;
  }

private:
  static Catalog known(const LiveScript &script) {
    Catalog catalog;
    for (uint32_t host = 0; host < script.hosts(); host++) {
      catalog.hosts.push_back({std::to_string(host)});
      for (uint32_t cpu = 0; cpu < LiveScript::kCpus; cpu++)
        catalog.cpus.push_back({cpu, host});
    }
    catalog.begin = LiveScript::kBegin;
    return catalog;
  }

  const LiveScript &script_;
  size_t at_ = 0;
};

} // namespace ovnitrace::test
