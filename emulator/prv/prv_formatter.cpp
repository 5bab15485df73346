// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/prv_formatter.h"

#include "emulator/base/number_text.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace ovnitrace {

namespace {

/// Room for any prefix, time and line end.
constexpr size_t kLineRoom = 32 + TimeText::kRoom + 1;
/// Room for a value with its type and two colons, and for a whole ValueText.
constexpr size_t kValueRoom = 48;
/// Values for which room is made at once, with one more.
constexpr size_t kPiece = (OutputFile::kMostReserve - kLineRoom) / kValueRoom - 1;
/// Room for a communication: 15 numbers and their colons.
constexpr size_t kArrowRoom = 16 * (kMaxDigits + 1) + TimeText::kRoom;

constexpr size_t kRowsInCache = 1000; ///< so many stay in the caches anyway

/// Writes ":type:value".
char *put_text(char *at, const TypedValue &value) {
  *at++ = ':';
  at = put_decimal(at, value.type);
  *at++ = ':';
  return put_decimal(at, value.value);
}

} // namespace

PrvFormatter::PrvFormatter(const std::vector<PrvRow> &rows, const std::vector<uint32_t> &nodes,
                           std::vector<uint32_t> cpu_node, const std::vector<uint32_t> &measured)
    : cpu_node_(std::move(cpu_node)) {
  rows_.reserve(rows.size());
  for (size_t n = 0; n < rows.size(); n++)
    prepare_prefix(rows_.emplace_back(Row{{}, 0, 0, nodes[n], rows[n]}), 0);
  for (uint32_t type : measured) {
    measured_.push_back({type, &scales_[type]});
    maybe_measured_[type % maybe_measured_.size()] = true;
  }
}

/// Prefetches all rows of a block, for which the second-level cache has room.
[[gnu::always_inline]] inline void PrvFormatter::prefetch_rows(const LineBlock &block) const {
  for (LineReader reader(block.bytes()); reader.more();) {
    LineReader lines = reader.part(reader.instant().bytes);
    while (lines.more()) {
      const LineHead head = lines.head();
      __builtin_prefetch(&rows_[head.row], 1);
      if (head.kind == LineHead::narrow)
        lines.values<NarrowValue>(head.count);
      else if (head.kind == LineHead::wide)
        lines.values<TypedValue>(head.count);
      else
        __builtin_prefetch(&rows_[lines.arrow().to_row], 1);
    }
  }
}

void PrvFormatter::format(const LineBlock &block, OutputFile &file) {
  if (rows_.size() > kRowsInCache)
    prefetch_rows(block);
  for (LineReader reader(block.bytes()); reader.more();) {
    const InstantHead instant = reader.instant();
    LineReader lines = reader.part(instant.bytes);
    time_ = instant.time;
    time_text_.set(time_);
    last_time_ = std::max(last_time_, time_);
    empty_ = false;
    if (instant.merged) [[unlikely]] {
      merge_lines(lines, file);
      continue;
    }
    while (lines.more()) {
      const LineHead head = lines.head();
      if (head.kind == LineHead::narrow)
        put_line(head.row, head.cpu, lines.values<NarrowValue>(head.count), file);
      else if (head.kind == LineHead::wide)
        put_line(head.row, head.cpu, lines.values<TypedValue>(head.count), file);
      else
        put_arrow(head, lines.arrow(), file);
    }
  }
}

/// Writes ":cpu:1:task:thread:".
char *PrvFormatter::put_object(char *at, const Row &row) {
  memcpy(at, row.prefix.data() + 1, row.prefix.size() - 1);
  return at + row.prefix_size - 1;
}

/// Returns 0 for a CPU outside the row's node, because Paraver would drop the line.
void PrvFormatter::prepare_prefix(Row &row, uint32_t cpu) {
  const bool shown = cpu < cpu_node_.size() && cpu_node_[cpu] == row.node;
  char *at = row.prefix.data();
  *at++ = '2';
  *at++ = ':';
  at = put_decimal(at, shown ? cpu : 0);
  memcpy(at, ":1:", 3);
  at = put_decimal(at + 3, row.object.task);
  *at++ = ':';
  at = put_decimal(at, row.object.thread);
  *at++ = ':';
  row.prefix_size = uint32_t(at - row.prefix.data());
  row.cpu = cpu;
}

inline char *PrvFormatter::put_value(char *at, const TypedValue &value) {
  const uint64_t mixed =
      (uint64_t(value.value) + (uint64_t(value.type) << 32)) * 0x9e3779b97f4a7c15;
  ValueText &kept = texts_[mixed >> (64 - kTextBits)];
  if (kept.value != value.value || kept.type != value.type || !kept.size) [[unlikely]]
    return put_new_value(at, value, kept);
  memcpy(at, kept.text.data(), kept.text.size());
  return at + kept.size;
}

char *PrvFormatter::put_new_value(char *at, const TypedValue &value, ValueText &kept) {
  if (maybe_measured(value.type))
    return put_measured(at, value); // each must be counted
  char *end = put_text(at, value);
  if (const size_t size = size_t(end - at); size <= kept.text.size()) {
    kept.value = value.value;
    kept.type = value.type;
    kept.size = uint32_t(size);
    memcpy(kept.text.data(), at, kept.text.size());
  }
  return end;
}

/// Adds a value that may be of a measured type.
char *PrvFormatter::put_measured(char *at, const TypedValue &value) {
  for (const Measured &measured : measured_)
    if (measured.type == value.type)
      measured.scale->add(value.value);
  return put_text(at, value);
}

template <class Value>
void PrvFormatter::put_line(uint32_t number, uint32_t cpu, std::span<const Value> values,
                            OutputFile &file) {
  const Row &row = row_on(number, cpu);
  char *at = file.reserve(OutputFile::kMostReserve);
  memcpy(at, row.prefix.data(), row.prefix.size());
  at = time_text_.put(at + row.prefix_size);
  // A measured value is mostly the last one. It is cheaper to know that before the others are
  // looked up than to find each time that its text is not kept.
  const bool measured = !values.empty() && maybe_measured(values.back().type);
  std::span<const Value> others = values.first(values.size() - measured);
  for (;;) {
    const size_t piece = std::min(others.size(), kPiece);
    for (const Value &value : others.first(piece))
      at = put_value(at, {value.value, value.type});
    others = others.subspan(piece);
    if (others.empty())
      break;
    file.commit(at);
    at = file.reserve(OutputFile::kMostReserve);
  }
  if (measured)
    at = put_measured(at, {values.back().value, values.back().type});
  *at++ = '\n';
  file.commit(at);
}

/// 3:cpu:appl:task:thread:lsend:psend:cpu:appl:task:thread:lrecv:precv:size:tag
void PrvFormatter::put_arrow(const LineHead &from, const ArrowBody &body, OutputFile &file) {
  char *at = file.reserve(kArrowRoom);
  *at++ = '3';
  at = put_object(at, row_on(from.row, from.cpu));
  at = time_text_.put(at);
  *at++ = ':';
  at = time_text_.put(at);
  at = put_object(at, row_on(body.to_row, body.to_cpu));
  for (int copies = 0; copies < 2; copies++) { // logical and physical
    at = body.recv_time == time_ ? time_text_.put(at) : put_decimal(at, body.recv_time);
    *at++ = ':';
  }
  at = put_decimal(at, body.size);
  *at++ = ':';
  at = put_decimal(at, body.tag);
  *at++ = '\n';
  file.commit(at);
  last_time_ = std::max(last_time_, body.recv_time);
}

/// Writes one line for each row, with each type once and its last value (and all punctual ones),
/// and the CPU of the row's first line. Then writes the arrows.
void PrvFormatter::merge_lines(LineReader reader, OutputFile &file) {
  struct Line {
    uint32_t row, cpu;
    std::vector<TypedValue> values;
    std::vector<uint32_t> punctual; ///< types whose last value was punctual
  };
  std::vector<Line> lines;
  std::unordered_map<uint32_t, size_t> line_of; ///< by row
  std::vector<std::pair<LineHead, ArrowBody>> arrows;
  while (reader.more()) {
    const LineHead head = reader.head();
    if (head.kind == LineHead::arrow) {
      arrows.emplace_back(head, reader.arrow());
      continue;
    }
    const auto [place, first] = line_of.try_emplace(head.row, lines.size());
    if (first)
      lines.push_back({head.row, head.cpu, {}, {}});
    std::vector<TypedValue> &merged = lines[place->second].values;
    std::vector<uint32_t> &punctual = lines[place->second].punctual;
    const auto add = [&](const TypedValue &value) {
      const auto same = std::find_if(merged.rbegin(), merged.rend(), [&](const TypedValue &before) {
        return before.type == value.type;
      });
      const bool again = std::find(punctual.begin(), punctual.end(), value.type) != punctual.end();
      if (head.punctual && !again)
        punctual.push_back(value.type);
      if (same == merged.rend() || (head.punctual && again))
        merged.push_back(value);
      else
        same->value = value.value;
    };
    if (head.kind == LineHead::wide)
      for (const TypedValue &value : reader.values<TypedValue>(head.count))
        add(value);
    else
      for (const NarrowValue &value : reader.values<NarrowValue>(head.count))
        add({value.value, value.type});
  }
  for (const Line &line : lines)
    put_line(line.row, line.cpu, std::span<const TypedValue>(line.values), file);
  for (const auto &[head, body] : arrows)
    put_arrow(head, body, file);
}

} // namespace ovnitrace
