// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/shark/shark_source.h"

#include "emulator/format/code_kind.h"
#include "emulator/format/event_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace ovnitrace::shark {

namespace {

constexpr std::array<RecordRule, 256> kRecordRules =
    ovnitrace::detail::by_code(RecordRule(), [](const CodeInfo &info) { return info.shark; });

/// Returns the task of a record by its parameter 1, as `table` knows it then. Mentions the task for
/// which another one runs (parameter 2 of a schedule), too, as every mention counts.
struct Mentioned {
  uint32_t task = kNone;
  uint32_t other = kNone;
};

Mentioned mention(ContextTable &table, const ftrace_record &record, uint8_t code) {
  const RecordRule &rule = kRecordRules[code];
  Mentioned mentioned;
  if (rule.about != About::context && rule.about != About::any_context)
    return mentioned;
  const uint64_t ticks = ftrace_record_tsc(&record);
  mentioned.task = table.task(record.par1, rule.mention, record.par2, ticks);
  if (rule.meaning == Meaning::schedule && record.par2 <= UINT16_MAX)
    mentioned.other = table.task(uint16_t(record.par2), Mention::other, 0, ticks);
  return mentioned;
}

FileHabits habits_of(const RunIndex &index) {
  const auto logs = [&](auto... codes) { return ((index.counts[codes] > 0) || ...); };
  return {.switches = logs(FTrace_EVT_task_dispatch, FTrace_EVT_context_switch),
          .leavings = logs(FTrace_EVT_task_epilogue, FTrace_EVT_task_sleep),
          .begin_cycles = logs(FTrace_EVT_task_begin_cycle),
          .interrupts = logs(FTrace_EVT_interrupt_start, FTrace_EVT_timer_wakeup_start)};
}

} // namespace

SharkSource::SharkSource(std::vector<SharkFile> files, DiagnosticSink &sink)
    : EventSource(sink), files_(std::move(files)), index_([this] {
        std::vector<const RunIndex *> all;
        for (const SharkFile &file : files_)
          all.push_back(&file.index);
        return join(all);
      }()),
      merge_(descriptors(), index_) {
  const std::string &name = files_.front().name;
  catalog_.hosts.push_back({name.substr(name.find_last_of('/') + 1)});
  catalog_.cpus.push_back({});
  for (const SharkFile &file : files_)
    catalog_.files.push_back(file.name);
  set_clock();
  scheduling_.emplace(habits_of(index_), learn_tasks());
  report_damage();
}

std::vector<int> SharkSource::descriptors() const {
  std::vector<int> all;
  for (const SharkFile &file : files_)
    all.push_back(file.fd.get());
  return all;
}

void SharkSource::report_damage() {
  for (uint32_t n = 0; n < files_.size(); n++) {
    const RunIndex &index = files_[n].index;
    if (index.unknown)
      warn(n, index.first_unknown,
           fmt::format(
               "{} record{} of unknown codes, of which this is the first ({:#06x}): left out",
               index.unknown, index.unknown == 1 ? "" : "s", index.first_unknown_code));
    if (index.tail)
      warn(n, index.read,
           fmt::format("the file was cut: its last {} bytes are not a whole record", index.tail));
  }
}

void SharkSource::set_clock() {
  if (index_.rate)
    clock_.set_rate(index_.rate);
  else
    warn(0, 0,
         "nothing gives the rate of the clock (cycles_per_msec, or parameter 2 of trace_start): "
         "times are shown as if its ticks were ns");
  for (uint32_t n = 0; n < files_.size(); n++) {
    const RunIndex &index = files_[n].index;
    const bool other = index.rate && index.rate != index_.rate;
    if (other || index.other_rate)
      warn(n, other ? 0 : index.other_rate_offset,
           fmt::format("cycles_per_msec says {} ticks per ms, but {} before: the first one is used",
                       other ? index.rate : index.other_rate, index_.rate));
  }
  catalog_.end = clock_.ns(index_.last - index_.first);
}

/// Makes the threads of the catalog. Returns what Scheduling needs to know about them.
std::vector<ThreadFacts> SharkSource::learn_tasks() {
  ContextTable table;
  RunMerge merge(descriptors(), index_);
  for (RunMerge::Item item; merge.next(item);) {
    const uint8_t code = code_of(item.record.code);
    const uint32_t task = mention(table, item.record, code).task;
    if (task != kNone && code == FTrace_EVT_task_end_cycle)
      table.tasks()[task].cyclic = true;
  }
  const std::vector<Task> &tasks = table.tasks();
  if (table.has_refused())
    warn(0, 0,
         fmt::format("the trace has more than {} tasks: the others are left out", tasks.size()));
  contexts_ = !tasks.empty();
  std::vector<uint32_t> order(tasks.size());
  std::iota(order.begin(), order.end(), 0);
  const auto pid = [&](uint32_t t) { return tasks[t].named ? tasks[t].pid : tasks[t].context; };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::make_tuple(pid(a), tasks[a].created, a) <
           std::make_tuple(pid(b), tasks[b].created, b);
  });
  std::vector<ThreadFacts> facts;
  thread_of_task_.resize(tasks.size());
  for (uint32_t t : order) {
    const Task &task = tasks[t];
    thread_of_task_[t] = uint32_t(catalog_.threads.size());
    catalog_.threads.push_back({.tid = task.context,
                                .pid = pid(t),
                                .birth = task.created ? clock_.ns(task.created - index_.first) : 0,
                                .name = task.named ? fmt::format("task {}", task.pid) : "task ?"});
    facts.push_back({.tid = task.context, .cyclic = task.cyclic});
  }
  if (!contexts_) { // user events need a row nevertheless
    catalog_.threads.push_back({.name = "task ?"});
    facts.emplace_back();
  }
  return facts;
}

uint32_t SharkSource::thread_of(uint32_t task) const {
  return task < thread_of_task_.size() ? thread_of_task_[task]
                                       : kNone; // otherwise the file changed
}

bool SharkSource::next(Event &event) {
  while (!scheduling_->take(event)) {
    RunMerge::Item item;
    if (!merge_.next(item))
      return false;
    interpret(item);
  }
  return true;
}

void SharkSource::interpret(const RunMerge::Item &item) {
  const ftrace_record &record = item.record;
  const uint8_t code = code_of(record.code);
  const Mentioned mentioned = mention(table_, record, code);
  Event event;
  event.time = time_of(item);
  event.kind = code == FTrace_EVT_mutex_unlock_misprint ? uint32_t(FTrace_EVT_mutex_unlock) : code;
  event.thread = thread_of(mentioned.task);
  event.cpu = 0;
  event.peer = thread_of(mentioned.other);
  event.par1 = event.file_par1 = record.par1;
  event.par2 = event.file_par2 = record.par2;
  event.offset = item.offset;
  event.file = uint16_t(item.file);
  event.in_plain_file = event.by_manual = true;
  const RecordRule &rule = kRecordRules[code];
  const bool of_running =
      rule.about == About::running || (rule.about == About::any_context && !record.par1);
  if (of_running)
    event.thread = !contexts_                          ? 0
                   : rule.meaning == Meaning::dispatch ? scheduling_->dispatched()
                                                       : scheduling_->running();
  if (rule.about == About::any_context && event.thread == kNone)
    warn(item.file, item.offset,
         fmt::format("{} names no context, and it is not known which task runs: it is "
                     "shown of none",
                     event_name(code)));
  scheduling_->record(event, rule.meaning);
}

/// Returns the time relative to the first event, so that the age of the machine costs no precision.
uint64_t SharkSource::time_of(const RunMerge::Item &item) {
  const uint64_t ticks = ftrace_record_tsc(&item.record);
  const uint64_t time = std::min(clock_.ns(ticks - std::min(ticks, index_.first)), catalog_.end);
  if (time < time_ && !std::exchange(unordered_, true))
    warn(item.file, item.offset,
         "the records are in no order: from here on some are shown too late");
  return time_ = std::max(time_, time);
}

void SharkSource::warn(uint32_t file, uint64_t offset, std::string what) {
  diagnostics().report({.file = files_[file].name, .offset = offset, .what = std::move(what)});
}

} // namespace ovnitrace::shark
