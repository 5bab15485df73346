// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/prv_writer.h"

#include "emulator/base/error.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <unistd.h>

namespace ovnitrace {

namespace {

/// CPUs, tasks or threads that the default build of Paraver can load in one trace.
constexpr uint64_t kMaxObjects = 65535;

/// Paraver keeps times in a signed or floating type.
constexpr uint64_t kMaxTime = INT64_MAX;

/// Room for a prefix, a time, an event and a new line, whatever their values.
constexpr size_t kEventRoom = 128;
/// Room for a communication: 15 numbers and their colons.
constexpr size_t kArrowRoom = 15 * (kMaxDigits + 1);

/// `part`: the options that leave some of them out.
void check_count(const char *what, uint64_t count, const char *part) {
  if (count > kMaxObjects)
    throw Error("cannot write a Paraver trace of " + std::to_string(count) + " " + what +
                ": Paraver loads at most " + std::to_string(kMaxObjects) +
                "; convert a part of it with " + part);
}

/// "2(4,4):1:2(1:1,3:2)": the machine and the one application.
std::string objects_text(const PrvHeader &header) {
  std::string text = std::to_string(header.cpus_per_node.size());
  for (size_t i = 0; i < header.cpus_per_node.size(); i++)
    text += (i ? "," : "(") + std::to_string(header.cpus_per_node[i]);
  text += header.cpus_per_node.empty() ? ":1:" : "):1:";
  text += std::to_string(header.tasks.size()) + "(";
  for (size_t i = 0; i < header.tasks.size(); i++) {
    const std::vector<uint32_t> &nodes = header.tasks[i].thread_nodes;
    text += (i ? "," : "") + std::to_string(nodes.size()) + ":" + std::to_string(nodes.front());
  }
  return text + ")\n";
}

void check_objects(const PrvHeader &header) {
  uint64_t cpus = 0, threads = 0;
  for (uint32_t count : header.cpus_per_node)
    cpus += count;
  for (const PrvTask &task : header.tasks) {
    threads += task.thread_nodes.size();
    if (task.thread_nodes.empty())
      throw Error("internal error: a task of a Paraver trace has no threads");
    if (!header.cpus_per_node.empty() &&
        (task.thread_nodes.front() == 0 || task.thread_nodes.front() > header.cpus_per_node.size()))
      throw Error("internal error: a task of a Paraver trace is on a node that does not exist");
  }
  if (threads == 0)
    throw Error("cannot write a Paraver trace without rows: there is no thread in the trace, or "
                "the filters leave none");
  check_count("CPUs", cpus, "--cpu");
  check_count("threads", threads, "--pid, --tid or --comm"); // and so tasks: each has a thread
}

std::string date_text(int64_t date) {
  time_t seconds = date ? time_t(date) : time(nullptr);
  struct tm parts {};
  localtime_r(&seconds, &parts);
  char text[32];
  strftime(text, sizeof text, "#Paraver (%d/%m/%y at %H:%M):", &parts);
  return text;
}

/// The header: of the same size whatever the length of the trace is.
std::string header_text(const std::string &date, uint64_t end, const std::string &objects) {
  std::string digits = std::to_string(end);
  return date + std::string(kMaxDigits - digits.size(), '0') + digits + "_ns:" + objects;
}

} // namespace

PrvWriter::PrvWriter(const OutputPlace &place, const PrvHeader &header,
                     const std::vector<PrvRow> &rows, PrvOptions options)
    : date_(date_text(header.date)), objects_((check_objects(header), objects_text(header))),
      other_form_(options.gzip ? place : place + ".gz"),
      file_(options.gzip ? place + ".gz" : place, header_text(date_, header.end, objects_),
            options.gzip ? OutputFile::Format::gzip : OutputFile::Format::plain) {
  cpu_node_.push_back(kNil);
  for (size_t node = 0; node < header.cpus_per_node.size(); node++)
    cpu_node_.insert(cpu_node_.end(), header.cpus_per_node[node], uint32_t(node + 1));
  rows_.reserve(rows.size());
  for (const PrvRow &row : rows) {
    if (row.task == 0 || row.task > header.tasks.size() || row.thread == 0 ||
        row.thread > header.tasks[row.task - 1].thread_nodes.size())
      throw Error("internal error: a row of a Paraver trace is not in its header");
    Row made;
    made.task = row.task;
    made.thread = row.thread;
    made.node = header.tasks[row.task - 1].thread_nodes.front();
    rows_.push_back(made);
  }
  instants_[now_ ^ 1].time = kMaxTime; // nothing comes before 0
}

/// The instant of `time`, which is the later one, the one before it, or a new one.
inline uint32_t PrvWriter::instant_at(uint64_t time) {
  uint64_t now = instants_[now_].time;
  if (time == now)
    return now_;
  if (time < now && time + 1 == now)
    return now_ ^ 1;
  advance(time);
  return now_;
}

void PrvWriter::advance(uint64_t time) {
  uint64_t now = instants_[now_].time;
  if (time < now || time > kMaxTime)
    throw Error("cannot write an event at " + std::to_string(time) + " ns after one at " +
                std::to_string(now) + " ns: the input is not ordered by time");
  flush(now_ ^ 1);
  if (time != now + 1)
    flush(now_);
  now_ ^= 1; // the later instant is now the earlier one, empty unless it is 1 ns back
  instants_[now_ ^ 1].time = time - 1;
  instants_[now_].time = time;
}

void PrvWriter::event(uint64_t time, uint32_t row, uint32_t type, int64_t value) {
  uint32_t which = instant_at(time);
  Instant &instant = instants_[which];
  Row &r = rows_[row];
  uint32_t added = uint32_t(instant.values.size());
  uint32_t line_index = r.line[which];
  if (line_index == kNil) {
    r.line[which] = uint32_t(instant.lines.size());
    instant.lines.push_back({row, r.cpu, added, added});
    instant.values.push_back({value, type, kNil});
    return;
  }
  Line &line = instant.lines[line_index];
  for (uint32_t i = line.first; i != kNil; i = instant.values[i].next)
    if (instant.values[i].type == type) {
      instant.values[i].value = value;
      return;
    }
  instant.values[line.last].next = added;
  line.last = added;
  instant.values.push_back({value, type, kNil});
}

void PrvWriter::arrow(uint64_t time, uint32_t from_row, uint32_t to_row, uint64_t recv_time,
                      uint64_t size, uint32_t tag) {
  instants_[instant_at(time)].arrows.push_back(
      {from_row, rows_[from_row].cpu, to_row, rows_[to_row].cpu, tag, recv_time, size});
}

/// Formats and forgets an instant.
void PrvWriter::flush(uint32_t which) {
  Instant &instant = instants_[which];
  if (instant.empty())
    return;
  last_time_ = std::max(last_time_, instant.time);
  empty_ = false;
  std::array<char, 24> time;
  size_t time_size = size_t(put_decimal(time.data(), instant.time) - time.data());
  for (const Line &line : instant.lines) {
    Row &row = rows_[line.row];
    row.line[which] = kNil;
    if (row.prefix_cpu != line.cpu)
      prepare_prefix(row, line.cpu);
    char *at = file_.reserve(kEventRoom);
    memcpy(at, row.prefix.data(), row.prefix.size());
    at += row.prefix_size;
    memcpy(at, time.data(), time.size());
    at += time_size;
    for (uint32_t i = line.first; i != kNil; i = instant.values[i].next) {
      file_.commit(at);
      at = file_.reserve(kEventRoom);
      at = put_decimal(put_type(at, instant.values[i].type), instant.values[i].value);
    }
    *at++ = '\n';
    file_.commit(at);
  }
  for (const Arrow &arrow : instant.arrows) {
    last_time_ = std::max(last_time_, arrow.recv_time);
    put_arrow(arrow, {time.data(), time_size});
  }
  instant.lines.clear();
  instant.values.clear();
  instant.arrows.clear();
}

/// 3:cpu:appl:task:thread:lsend:psend:cpu:appl:task:thread:lrecv:precv:size:tag
void PrvWriter::put_arrow(const Arrow &arrow, std::string_view time) {
  char *at = file_.reserve(kArrowRoom);
  auto put = [&at](auto value) {
    *at++ = ':';
    at = put_decimal(at, value);
  };
  auto put_text = [&at](std::string_view text) {
    *at++ = ':';
    memcpy(at, text.data(), text.size());
    at += text.size();
  };
  auto put_object = [&](uint32_t cpu, const Row &row) {
    put(cpu);
    put_text("1");
    put(row.task);
    put(row.thread);
  };
  *at++ = '3';
  put_object(arrow.from_cpu, rows_[arrow.from_row]);
  put_text(time);
  put_text(time);
  put_object(arrow.to_cpu, rows_[arrow.to_row]);
  put(arrow.recv_time);
  put(arrow.recv_time);
  put(arrow.size);
  put(arrow.tag);
  *at++ = '\n';
  file_.commit(at);
}

/// ":type:", from a cache: a trace has few types.
inline char *PrvWriter::put_type(char *at, uint32_t type) {
  TypeText &cached = types_[type % types_.size()];
  if (cached.type != type || cached.size == 0) {
    cached.type = type;
    char *end = cached.text.data();
    *end++ = ':';
    end = put_decimal(end, type);
    *end++ = ':';
    cached.size = uint32_t(end - cached.text.data());
  }
  memcpy(at, cached.text.data(), cached.text.size());
  return at + cached.size;
}

/// "2:cpu:1:task:thread:"
void PrvWriter::prepare_prefix(Row &row, uint32_t cpu) {
  char *at = row.prefix.data();
  *at++ = '2';
  *at++ = ':';
  at = put_decimal(at, cpu);
  memcpy(at, ":1:", 3);
  at = put_decimal(at + 3, row.task);
  *at++ = ':';
  at = put_decimal(at, row.thread);
  *at++ = ':';
  row.prefix_size = uint32_t(at - row.prefix.data());
  row.prefix_cpu = cpu;
}

/// Paraver refuses a trace without a record: one state, "None", of the first row.
void PrvWriter::put_empty_body(uint64_t end) {
  char *at = file_.reserve(kEventRoom);
  memcpy(at, "1:0:1:1:1:0:", 12);
  at = put_decimal(at + 12, end);
  memcpy(at, ":0\n", 3);
  file_.commit(at + 3);
}

void PrvWriter::close(uint64_t end) {
  flush(now_ ^ 1);
  flush(now_);
  end = std::max(end, last_time_);
  if (empty_)
    put_empty_body(end);
  file_.close(header_text(date_, end, objects_));
  unlinkat(other_form_.directory, other_form_.name.c_str(), 0);
}

} // namespace ovnitrace
