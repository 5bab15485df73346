// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/stacks.h"

#include "emulator/base/json_file.h"
#include "emulator/base/printable.h"
#include "emulator/input/trace_dir.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace ovnitrace {

namespace {

using nlohmann::json;

constexpr size_t kMaxValues = 8 << 20;
constexpr size_t kMostFramesOfOne = 4096; ///< of one stack, inlined ones included

std::string text_of(const json &object, const char *key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? printable_line(it->get_ref<const std::string &>())
                                               : std::string();
}

uint64_t number_of(const json &object, const char *key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number_unsigned() ? it->get<uint64_t>() : 0;
}

bool flag_of(const json &object, const char *key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_boolean() && it->get<bool>();
}

const json &list_of(const json &object, const char *key) {
  static const json none = json::array();
  const auto it = object.find(key);
  return it != object.end() && it->is_array() ? *it : none;
}

std::string file_name(const std::string &path) {
  return path.substr(path.rfind('/') + 1);
}

} // namespace

/// Makes a table from what trace.json has; what is not as it should be is left out.
class StackReader {
public:
  StackReader(const json &trace, StackTable &table) : table_(table) {
    for (const json &file : list_of(trace, "stack_files"))
      table_.files_.push_back(file.is_object()
                                  ? StackFile{text_of(file, "path"), text_of(file, "build_id")}
                                  : StackFile{});
    for (const json &frame : list_of(trace, "stack_frames"))
      add_frame(frame);
    for (const json &stack : list_of(trace, "stacks"))
      add_stack(stack);
  }

private:
  void add_frame(const json &json) {
    const auto first = uint32_t(table_.frames_.size());
    if (json.is_object()) {
      StackFrame frame;
      frame.kernel = flag_of(json, "kernel");
      frame.offset = number_of(json, "offset");
      if (const auto file = json.find("file"); file != json.end() && file->is_number_unsigned() &&
                                               file->get<uint64_t>() < table_.files_.size())
        frame.file = file->get<uint32_t>();
      for (const nlohmann::json &inner : list_of(json, "inlined"))
        if (inner.is_object())
          add_part(frame, inner, true);
      add_part(frame, json, false);
    }
    parts_.emplace_back(first, uint32_t(table_.frames_.size()));
  }

  /// What `json` says of a function at the place of `frame`.
  void add_part(StackFrame frame, const json &json, bool inlined) {
    frame.function = text_of(json, "function");
    frame.source = text_of(json, "source");
    const uint64_t line = number_of(json, "line");
    frame.line = line <= UINT32_MAX ? uint32_t(line) : 0;
    frame.inlined = inlined;
    table_.frames_.push_back(std::move(frame));
  }

  void add_stack(const json &json) {
    StackTable::Stack stack{.first = uint32_t(table_.indices_.size())};
    if (json.is_object()) {
      add_indices(list_of(json, "kernel"), stack);
      add_indices(list_of(json, "user"), stack);
      stack.cut = flag_of(json, "cut");
    }
    table_.stacks_.push_back(stack);
  }

  void add_indices(const json &list, StackTable::Stack &stack) {
    for (const json &element : list) {
      if (!element.is_number_unsigned() || element.get<uint64_t>() >= parts_.size())
        continue;
      const auto [first, end] = parts_[element.get<uint64_t>()];
      for (uint32_t index = first; index < end && has_room(stack); index++) {
        table_.indices_.push_back(index);
        stack.count++;
      }
    }
  }

  bool has_room(const StackTable::Stack &stack) const {
    return stack.count < kMostFramesOfOne && table_.indices_.size() < kMaxValues;
  }

  StackTable &table_;
  std::vector<std::pair<uint32_t, uint32_t>> parts_; ///< by frame of the file: from, to in frames_
};

std::string StackTable::name(uint32_t index) const {
  const StackFrame &frame = frames_[index];
  if (!frame.function.empty())
    return frame.function;
  if (frame.file == kNone || files_[frame.file].path.empty())
    return "[unknown]";
  return fmt::format("{}+0x{:x}", file_name(files_[frame.file].path), frame.offset);
}

std::string StackTable::place(uint32_t index) const {
  const StackFrame &frame = frames_[index];
  return frame.source.empty() ? "" : fmt::format("{}:{}", file_name(frame.source), frame.line);
}

StackTable StackTable::read(const std::string &directory, DiagnosticSink &sink) {
  StackTable table;
  const std::string name = directory + "/trace.json";
  const JsonFileBounds bounds = {
      kMaxDescriptionBytes, kMaxValues, {"processes", "threads", "peers", "topology", "per_cpu"}};
  std::string why;
  json json;
  if (!read_json_file(name, bounds, json, why) || !json.is_object())
    sink.report({.file = name, .what = why + "; stacks are not known", .harmless = true});
  else
    StackReader(json, table);
  return table;
}

std::span<const uint32_t> StackTable::frames(uint32_t number) const {
  if (number == 0 || number > stacks_.size())
    return {};
  const Stack &stack = stacks_[number - 1];
  return std::span(indices_).subspan(stack.first, stack.count);
}

bool StackTable::is_cut(uint32_t number) const {
  return number > 0 && number <= stacks_.size() && stacks_[number - 1].cut;
}

Stacks::Stacks(const Catalog &catalog, DiagnosticSink &sink) {
  for (const NodeInfo &node : catalog.nodes)
    tables_.push_back(node.path.empty() ? StackTable() : StackTable::read(node.path, sink));
}

} // namespace ovnitrace
