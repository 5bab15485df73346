// SPDX-License-Identifier: BSD-2-Clause
// A .pftrace as Perfetto understands it: by the numbers of the fields in its public description.
#pragma once

#include "tests/support/proto.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace ovnitrace::test {

struct PerfettoTrace {
  /// A thread on a CPU, tid 0 (idle) left out.
  struct Run {
    uint64_t start, end; ///< end: UINT64_MAX: nothing ended it
    uint32_t cpu;
    int32_t tid, priority;
    int64_t state; ///< of the thread after it, as the kernel numbers it; -1: nothing ended it
    std::string name;
  };
  struct Waking {
    uint64_t time;
    int32_t tid, waker; ///< waker: who ran where it was logged
    std::optional<uint64_t> flags;
    uint64_t target_cpu;
    int32_t priority;
    std::string name;
  };
  struct Created {
    uint64_t time;
    int32_t tid, creator;
    std::string name;
    bool thread; ///< false: a process
  };
  struct Thread {
    int32_t pid;
    std::string name;
  };
  struct Track {
    std::string name;
    uint64_t parent;
    int32_t pid, tid;
  };
  /// A slice or an instant; end: UINT64_MAX: it goes on.
  struct Slice {
    uint64_t start, end;
    std::string track, name; ///< the names of the tracks from the outermost on, then of the slice
    std::map<std::string, std::string> notes;
    bool instant;
    std::vector<std::string> callstack = {}; ///< from the outermost inward
  };

  std::vector<Run> runs; ///< by CPU, then time
  std::vector<Waking> wakings;
  std::vector<std::string> blocked; ///< "120 tid 22 read", in the order of the file
  std::vector<Created> created;
  std::map<int32_t, std::string> renamed, processes;
  std::map<int32_t, Thread> threads;
  std::vector<Slice> slices; ///< in the order in which they end
  std::map<uint64_t, uint64_t> clocks;
  std::string release;
  std::map<uint32_t, int> lost; ///< by CPU: bundles that say that events are missing
  size_t switches = 0;          ///< all entries

  /// Throws std::runtime_error, or nlohmann's exception for a text that is not UTF-8.
  explicit PerfettoTrace(std::string file) : file_(std::move(file)) {
    for (const Proto &packet : Proto(file_).messages(1)) {
      if (packet.number(10) != 1)
        throw std::runtime_error("a packet of no sequence");
      if (packet.has(13) && packet.number(13) == 1 && std::exchange(started_, true))
        throw std::runtime_error("numbers of interned data start again");
      intern(packet.message(12));
      if (packet.has(1))
        bundle(packet.message(1));
      if (packet.has(2))
        process_tree(packet.message(2));
      if (packet.has(6))
        for (const Proto &clock : packet.message(6).messages(1))
          clocks[clock.number(1)] = clock.number(2);
      if (packet.has(45))
        release = text(packet.message(45).message(1), 3);
      if (packet.has(60))
        describe(packet.message(60));
      if (packet.has(11)) {
        events_.emplace_back(packet.number(8), packet.message(11));
        const uint64_t callstack = packet.message(11).number(56);
        if (callstack && (!callstacks_.contains(callstack) || packet.number(13) != 2 || !started_))
          throw std::runtime_error("a callstack that is not known yet");
      }
    }
    finish();
  }

  std::vector<Run> runs_of(int32_t tid) const {
    std::vector<Run> found;
    std::copy_if(runs.begin(), runs.end(), std::back_inserter(found),
                 [&](const Run &run) { return run.tid == tid; });
    return found;
  }

  PerfettoTrace(const PerfettoTrace &) = delete; // what is read points into the file
  PerfettoTrace &operator=(const PerfettoTrace &) = delete;

private:
  struct Switch {
    uint64_t time;
    int64_t prev_state;
    int32_t tid, priority;
    std::string name;
  };

  template <class Value> static void define(std::map<uint64_t, Value> &all, uint64_t id, Value of) {
    if (!id || !all.emplace(id, std::move(of)).second)
      throw std::runtime_error("a number of two things, or 0");
  }
  /// What refers to something not yet defined throws.
  void intern(const Proto &data) {
    for (const Proto &symbol : data.messages(26))
      define(symbols_, symbol.number(1), text(symbol, 2));
    for (const Proto &name : data.messages(5))
      define(functions_, name.number(1), text(name, 2));
    for (const Proto &path : data.messages(18))
      define(paths_, path.number(1), text(path, 2));
    for (const Proto &frame : data.messages(6)) {
      std::string name = functions_.at(frame.number(2));
      if (frame.has(5))
        name += " " + paths_.at(frame.number(5)) + ":" + std::to_string(frame.number(6));
      define(frames_, frame.number(1), name);
    }
    for (const Proto &stack : data.messages(7)) {
      std::vector<std::string> names;
      for (const uint64_t frame : stack.each_number(2))
        names.push_back(frames_.at(frame));
      define(callstacks_, stack.number(1), names);
    }
  }

  static std::string text(const Proto &message, uint64_t id) {
    std::string found = message.text(id);
    (void)nlohmann::json(found).dump(); // throws where it is not UTF-8
    return found;
  }

  void bundle(const Proto &bundle) {
    const auto cpu = uint32_t(bundle.number(1));
    lost[cpu] += bundle.number(3) != 0;
    const Proto compact = bundle.message(4);
    std::vector<std::string> names;
    for (const std::string &name : compact.texts(5)) {
      (void)nlohmann::json(name).dump();
      names.push_back(name);
    }
    const auto column = [&](uint64_t id, size_t size) {
      std::vector<uint64_t> numbers = compact.numbers(id);
      if (numbers.size() != size)
        throw std::runtime_error("columns of different lengths");
      return numbers;
    };
    uint64_t time = 0;
    const size_t n = compact.numbers(1).size(), w = compact.numbers(7).size();
    const auto times = column(1, n), states = column(2, n), tids = column(3, n),
               priorities = column(4, n), comms = column(6, n);
    for (size_t i = 0; i < n; i++)
      switches_[cpu].push_back({time += times[i], int64_t(states[i]), int32_t(tids[i]),
                                int32_t(priorities[i]), names.at(comms[i])});
    time = 0;
    const auto wake_times = column(7, w), woken = column(8, w), targets = column(9, w),
               wake_priorities = column(10, w), wake_comms = column(11, w), flags = column(12, w);
    for (size_t i = 0; i < w; i++)
      compact_[cpu].push_back({time += wake_times[i], int32_t(woken[i]), 0, flags[i], targets[i],
                               int32_t(wake_priorities[i]), names.at(wake_comms[i])});
    for (const Proto &event : bundle.messages(2))
      ftrace(event);
  }

  void ftrace(const Proto &event) {
    const uint64_t time = event.number(1);
    const auto tid = int32_t(event.number(2));
    if (event.has(20)) {
      const Proto waking = event.message(20);
      wakings.push_back({time,
                         int32_t(waking.number(2)),
                         tid,
                         {},
                         waking.number(5),
                         int32_t(waking.number(3)),
                         text(waking, 1)});
    } else if (event.has(18)) {
      const Proto reason = event.message(18);
      blocked.push_back(std::to_string(time) + " tid " + std::to_string(reason.number(1)) + " " +
                        symbols_.at(reason.number(2)));
    } else if (event.has(235)) {
      const Proto task = event.message(235);
      created.push_back(
          {time, int32_t(task.number(1)), tid, text(task, 2), (task.number(3) & 0x10000) != 0});
    } else if (event.has(236)) {
      renamed[int32_t(event.message(236).number(1))] = text(event.message(236), 3);
    } else {
      throw std::runtime_error("an event of ftrace that nobody writes");
    }
  }

  void process_tree(const Proto &tree) {
    for (const Proto &process : tree.messages(1)) {
      text(process, 3);
      processes[int32_t(process.number(1))] = process.texts(3).at(0);
    }
    for (const Proto &thread : tree.messages(2))
      threads[int32_t(thread.number(1))] = {int32_t(thread.number(3)), text(thread, 2)};
  }

  void describe(const Proto &track) {
    const Proto process = track.message(3), thread = track.message(4);
    const auto pid = int32_t(thread.has(1) ? thread.number(1) : process.number(1));
    if (!tracks_
             .emplace(track.number(1),
                      Track{text(track, 2), track.number(5), pid, int32_t(thread.number(2))})
             .second)
      throw std::runtime_error("a track that is described twice");
  }

  std::string path_of(uint64_t uuid) const {
    const Track &track = tracks_.at(uuid);
    const std::string own = track.tid   ? "thread " + std::to_string(track.tid)
                            : track.pid ? "process " + std::to_string(track.pid)
                                        : track.name;
    return track.parent ? path_of(track.parent) + "/" + own : own;
  }

  void finish() {
    for (auto &[cpu, list] : switches_)
      finish_cpu(cpu, list);
    std::stable_sort(wakings.begin(), wakings.end(),
                     [](const Waking &a, const Waking &b) { return a.time < b.time; });
    std::stable_sort(created.begin(), created.end(),
                     [](const Created &a, const Created &b) { return a.time < b.time; });
    std::stable_sort(events_.begin(), events_.end(),
                     [](const auto &a, const auto &b) { return a.first < b.first; });
    std::map<uint64_t, std::vector<Slice>> open;
    for (const auto &[time, event] : events_) {
      const uint64_t track = event.number(11), type = event.number(9);
      Slice slice{time, UINT64_MAX, path_of(track), text(event, 23), {}, type == 3};
      if (event.has(56))
        slice.callstack = callstacks_.at(event.number(56));
      for (const Proto &note : event.messages(4))
        slice.notes[text(note, 10)] =
            note.has(6) ? text(note, 6) : std::to_string(int64_t(note.number(4)));
      if (type == 4) { // a counter
        slice.name = std::to_string(event.number(30));
        slice.instant = true;
      }
      if (type == 1)
        open[track].push_back(slice);
      if (type == 2) {
        if (open[track].empty())
          throw std::runtime_error("an end without a begin on " + slice.track);
        slice = open[track].back();
        slice.end = time;
        open[track].pop_back();
      }
      if (type != 1)
        slices.push_back(slice);
    }
    for (const auto &[track, left] : open)
      slices.insert(slices.end(), left.begin(), left.end());
  }

  /// The first entry of a CPU only says who had it before the second.
  void finish_cpu(uint32_t cpu, const std::vector<Switch> &list) {
    switches += list.size();
    for (size_t n = 1; n < list.size(); n++) {
      if (list[n].time < list[n - 1].time)
        throw std::runtime_error("switches in no order");
      const bool last = n + 1 == list.size();
      if (list[n].tid)
        runs.push_back({list[n].time, last ? UINT64_MAX : list[n + 1].time, cpu, list[n].tid,
                        list[n].priority, last ? -1 : list[n + 1].prev_state, list[n].name});
    }
    for (Waking waking : compact_[cpu]) {
      if (list.empty() || waking.time < list.front().time)
        throw std::runtime_error("a waking before it is known who runs there");
      const auto after =
          std::upper_bound(list.begin(), list.end(), waking.time,
                           [](uint64_t time, const Switch &entry) { return time < entry.time; });
      waking.waker = std::prev(after)->tid;
      wakings.push_back(waking);
    }
  }

  std::string file_;
  std::map<uint32_t, std::vector<Switch>> switches_;
  std::map<uint32_t, std::vector<Waking>> compact_;
  std::map<uint64_t, Track> tracks_;
  std::map<uint64_t, std::string> symbols_, functions_, paths_, frames_;
  std::map<uint64_t, std::vector<std::string>> callstacks_;
  bool started_ = false;
  std::vector<std::pair<uint64_t, Proto>> events_;
};

} // namespace ovnitrace::test
