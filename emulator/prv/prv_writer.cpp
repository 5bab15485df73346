// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/prv_writer.h"

#include "emulator/base/error.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace ovnitrace {

namespace {

/// The most CPUs, tasks or threads that the default build of Paraver loads.
constexpr uint64_t kMaxObjects = 65535;

/// Paraver keeps times in a signed or floating type.
constexpr uint64_t kMaxTime = INT64_MAX;

constexpr size_t kBlocks = 3;             ///< on their way to the thread that formats them
constexpr size_t kBlockSize = 256 * 1024; ///< bytes; all of both traces fit the second-level cache
constexpr size_t kInlineSize = 8 * 1024;  ///< without such a thread: fits the first-level cache

/// Throws Error for too many objects. `part`: the options that leave some out.
void check_count(const char *what, uint64_t count, const char *part) {
  if (count > kMaxObjects)
    throw Error("cannot write a Paraver trace of " + std::to_string(count) + " " + what +
                ": Paraver loads at most " + std::to_string(kMaxObjects) +
                "; convert a part of it with " + part);
}

/// Returns "2(4,4):1:2(1:1,3:2)": the machine and the one application.
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
  return fmt::format("#Paraver ({:%d/%m/%y at %H:%M}):", fmt::gmtime(time_t(date)));
}

/// Returns the header. Its size does not depend on the length of the trace.
std::string header_text(const std::string &date, uint64_t end, const std::string &objects) {
  std::string digits = std::to_string(end);
  return date + std::string(kMaxDigits - digits.size(), '0') + digits + "_ns:" + objects;
}

/// Returns the node of each row. Throws Error for a row that the header lacks.
std::vector<uint32_t> nodes_of(const PrvHeader &header, const std::vector<PrvRow> &rows) {
  std::vector<uint32_t> nodes;
  nodes.reserve(rows.size());
  for (const PrvRow &row : rows) {
    if (row.task == 0 || row.task > header.tasks.size() || row.thread == 0 ||
        row.thread > header.tasks[row.task - 1].thread_nodes.size())
      throw Error("internal error: a row of a Paraver trace is not in its header");
    nodes.push_back(header.tasks[row.task - 1].thread_nodes.front());
  }
  return nodes;
}

/// Returns the node of each global CPU, from 1.
std::vector<uint32_t> cpu_nodes(const PrvHeader &header) {
  std::vector<uint32_t> nodes = {UINT32_MAX};
  for (size_t node = 0; node < header.cpus_per_node.size(); node++)
    nodes.insert(nodes.end(), header.cpus_per_node[node], uint32_t(node + 1));
  return nodes;
}

} // namespace

PrvWriter::PrvWriter(const OutputPlace &place, const PrvHeader &header,
                     const std::vector<PrvRow> &rows, const PrvOptions &options)
    : date_(date_text(header.date)), objects_((check_objects(header), objects_text(header))),
      other_form_(options.gzip ? place : place + ".gz"), rows_(rows.size()),
      has_thread_(cores() > 1),
      formatter_(rows, nodes_of(header, rows), cpu_nodes(header), options.measured),
      file_(options.gzip ? place + ".gz" : place, header_text(date_, header.end, objects_),
            options.gzip ? OutputFile::Format::gzip : OutputFile::Format::plain),
      relay_(std::vector<LineBlock>(has_thread_ ? kBlocks : 1), has_thread_, {},
             [this](LineBlock &block) {
               formatter_.format(block, file_);
               block.clear();
             }) {
  relay_.current().start_instant();
}

/// Ends the instant and starts another one.
void PrvWriter::advance(uint64_t time) {
  if (time > kMaxTime || time < now_)
    throw Error("cannot write an event at " + std::to_string(time) + " ns after one at " +
                std::to_string(now_) + " ns: the input is not ordered by time");
  relay_.current().end_instant(now_, merged_);
  if (relay_.current().full(has_thread_ ? kBlockSize : kInlineSize))
    relay_.pass();
  relay_.current().start_instant();
  now_ = time;
  merged_ = false;
  arrows_ = false;
}

/// Adds a state "None" of the first row: Paraver refuses a trace without a record.
void PrvWriter::put_empty_body(uint64_t end) {
  char *at = file_.reserve(64);
  memcpy(at, "1:0:1:1:1:0:", 12);
  at = put_decimal(at + 12, end);
  memcpy(at, ":0\n", 3);
  file_.commit(at + 3);
}

void PrvWriter::close(uint64_t end) {
  relay_.current().end_instant(now_, merged_);
  relay_.pass();
  relay_.finish();
  end = std::max(end, formatter_.last_time());
  if (formatter_.empty())
    put_empty_body(end);
  file_.close(header_text(date_, end, objects_));
  unlinkat(other_form_.directory, other_form_.name.c_str(), 0);
}

} // namespace ovnitrace
