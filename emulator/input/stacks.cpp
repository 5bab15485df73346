// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/stacks.h"

#include "emulator/base/bounded_json.h"
#include "emulator/base/printable.h"
#include "emulator/input/trace_info.h"
#include "emulator/symbols/elf_symbols.h"
#include "emulator/symbols/file_symbols.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {

namespace {

using nlohmann::json;

constexpr size_t kMostStackValues = 8 << 20;
constexpr size_t kMostFramesOfOne = 4096; ///< of one stack, inlined ones included

std::string file_name(const std::string &path) {
  return path.substr(path.rfind('/') + 1);
}

/// A place in a file of code whose function or line is not known.
struct UnknownPlace {
  uint32_t frame = 0; ///< the caller's number for the place
  uint32_t file = 0;
  std::string path, build_id;           ///< of the file
  uint64_t offset = 0;                  ///< bytes in the file
  std::optional<uint64_t> address = {}; ///< in the ELF file
};

struct FoundPlace {
  uint32_t frame = 0;
  /// As ElfSymbols::at() gives them; the last one has a name or a line.
  std::vector<CodePlace> places;
};

/// Looks on this machine for functions and lines that the capture could not find. Reads the file at
/// the given path if its build id matches, otherwise the debug data with that build id. Skips
/// places without a build id. `warn`: as name_places() calls it.
std::vector<FoundPlace> find_places(std::vector<UnknownPlace> places,
                                    const std::function<void(const std::string &)> &warn) {
  std::erase_if(places, [](const UnknownPlace &place) { return place.build_id.empty(); });
  std::stable_sort(places.begin(), places.end(),
                   [](const UnknownPlace &a, const UnknownPlace &b) { return a.file < b.file; });
  std::vector<PlacesOfFile> files;
  for (size_t n = 0; n < places.size(); n++) {
    if (n == 0 || places[n].file != places[n - 1].file)
      files.push_back({.path = places[n].path, .build_id = places[n].build_id, .places = {}});
    files.back().places.push_back({places[n].offset, places[n].address});
  }
  std::vector<FoundPlace> found;
  size_t n = 0;
  for (NamesOfFile &file : name_places(files, warn))
    for (NamedPlace &place : file.places) {
      if (const CodePlace &called = place.functions.back(); !called.function.empty() || called.line)
        found.push_back({places[n].frame, std::move(place.functions)});
      n++;
    }
  return found;
}

} // namespace

/// Makes a table from trace.json and leaves out what is malformed.
class StackReader {
public:
  StackReader(const json &trace, StackTable &table,
              const std::function<void(const std::string &)> &warn)
      : table_(table) {
    for (const json &file : array_of(trace, "stack_files"))
      table_.files_.push_back(file.is_object()
                                  ? StackFile{text_of(file, "path"), text_of(file, "build_id")}
                                  : StackFile{});
    for (const json &frame : array_of(trace, "stack_frames"))
      read_frame(frame);
    for (FoundPlace &found : find_places(std::move(unknown_), warn))
      complete(read_[found.frame], std::move(found.places));
    for (const std::vector<StackFrame> &parts : read_) {
      const auto first = uint32_t(table_.frames_.size());
      table_.frames_.insert(table_.frames_.end(), parts.begin(), parts.end());
      parts_.emplace_back(first, uint32_t(table_.frames_.size()));
    }
    for (const json &stack : array_of(trace, "stacks"))
      add_stack(stack);
  }

private:
  void read_frame(const json &json) {
    std::vector<StackFrame> &parts = read_.emplace_back();
    if (!json.is_object())
      return;
    StackFrame frame;
    frame.kernel = flag_of(json, "kernel");
    frame.missing = flag_of(json, "missing");
    frame.offset = number_of(json, "offset");
    if (const auto file = json.find("file"); file != json.end() && file->is_number_unsigned() &&
                                             file->get<uint64_t>() < table_.files_.size())
      frame.file = file->get<uint32_t>();
    for (const nlohmann::json &inner : array_of(json, "inlined"))
      if (inner.is_object())
        parts.push_back(part_of(frame, inner, true));
    parts.push_back(part_of(frame, json, false));
    if (frame.kernel || frame.file == kNone ||
        (!parts.back().function.empty() && parts.back().line))
      return;
    const StackFile &file = table_.files_[frame.file];
    unknown_.push_back({.frame = uint32_t(read_.size() - 1),
                        .file = frame.file,
                        .path = file.path,
                        .build_id = file.build_id,
                        .offset = frame.offset});
    if (json.contains("address"))
      unknown_.back().address = number_of(json, "address");
  }

  /// Returns the function that `json` describes, at the place of `frame`.
  static StackFrame part_of(StackFrame frame, const json &json, bool inlined) {
    frame.function = text_of(json, "function");
    frame.source = text_of(json, "source");
    const uint64_t line = number_of(json, "line");
    frame.line = line <= UINT32_MAX ? uint32_t(line) : 0;
    frame.inlined = inlined;
    return frame;
  }

  /// Adds what was found on this machine. Keeps what the capture found if there is nothing new.
  static void complete(std::vector<StackFrame> &parts, std::vector<CodePlace> &&places) {
    if (!places.back().line && !parts.back().function.empty())
      return;
    const StackFrame frame = parts.back();
    parts.clear();
    for (CodePlace &place : places) {
      StackFrame &part = parts.emplace_back(frame);
      part.function = printable_line(place.function);
      part.source = printable_line(place.source);
      part.line = place.line;
      part.inlined = true;
    }
    parts.back().inlined = false;
    if (parts.back().function.empty())
      parts.back().function = frame.function;
  }

  void add_stack(const json &json) {
    StackTable::Stack stack{.first = uint32_t(table_.indices_.size())};
    if (json.is_object()) {
      add_indices(array_of(json, "kernel"), stack);
      add_indices(array_of(json, "user"), stack);
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
    return stack.count < kMostFramesOfOne && table_.indices_.size() < kMostStackValues;
  }

  StackTable &table_;
  std::vector<std::vector<StackFrame>> read_; ///< by frame of the file, with what is inlined
  std::vector<UnknownPlace> unknown_;
  std::vector<std::pair<uint32_t, uint32_t>> parts_; ///< by frame of the file: from, to in frames_
};

std::string StackTable::name(uint32_t index) const {
  const StackFrame &frame = frames_[index];
  if (frame.missing)
    return "[frames missing]";
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
      kMaxDescriptionBytes,
      kMostStackValues,
      {"processes", "threads", "peers", "command_lines", "topology", "per_cpu"}};
  std::string why;
  json json;
  if (read_json_file(name, bounds, json, why) && !json.is_object())
    why = "it is no JSON object";
  if (!why.empty())
    sink.report({.file = name, .what = why + "; stacks are left out", .harmless = true});
  else
    StackReader(json, table, [&](const std::string &warning) {
      sink.report({.file = name, .what = warning, .harmless = true});
    });
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
  for (const HostInfo &host : catalog.hosts)
    tables_.push_back(host.stacks.empty() ? StackTable() : StackTable::read(host.stacks, sink));
}

} // namespace ovnitrace
