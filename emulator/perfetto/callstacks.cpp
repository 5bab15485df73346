// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/perfetto/callstacks.h"

#include <vector>

namespace ovnitrace::perfetto {

namespace {

using DataBuilder = protozero::pbf_builder<InternedData>;

/// Returns the number of a text, which is written the first time.
uint64_t text_id(std::unordered_map<std::string, uint64_t> &known, const std::string &text,
                 InternedData field, DataBuilder &data) {
  const auto [at, added] = known.try_emplace(text, known.size() + 1);
  if (added) {
    protozero::pbf_builder<InternedString> string(data, field);
    string.add_uint64(InternedString::iid, at->second);
    string.add_string(InternedString::str, text);
  }
  return at->second;
}

} // namespace

uint64_t Callstacks::frame(uint32_t index, DataBuilder &data) {
  const auto [at, added] = frames_.try_emplace(index, frames_.size() + 1);
  if (!added)
    return at->second;
  const StackFrame &of = table_.frame(index);
  const uint64_t name = text_id(functions_, table_.name(index) + (of.kernel ? "_[k]" : ""),
                                InternedData::function_names, data);
  const uint64_t path =
      of.source.empty() ? 0 : text_id(paths_, of.source, InternedData::source_paths, data);
  protozero::pbf_builder<Frame> frame(data, InternedData::frames);
  frame.add_uint64(Frame::iid, at->second);
  frame.add_uint64(Frame::function_name, name);
  if (path) {
    frame.add_uint64(Frame::source_path, path);
    frame.add_uint32(Frame::line_number, of.line);
  }
  return at->second;
}

uint64_t Callstacks::write(uint32_t stack) {
  const auto frames = table_.frames(stack);
  if (frames.empty())
    return 0;
  const auto [at, added] = stacks_.try_emplace(stack, stacks_.size() + 1);
  const uint64_t number = at->second; // clang 14 captures no structured binding
  if (added)
    file_.packet([&](PacketBuilder &packet) {
      packet.add_uint32(Packet::sequence_flags, kNeedsIncrementalState);
      DataBuilder data(packet, Packet::interned_data);
      std::vector<uint64_t> numbers; // from the outermost inward
      for (size_t n = frames.size(); n-- > 0;)
        numbers.push_back(frame(frames[n], data));
      protozero::pbf_builder<Callstack> callstack(data, InternedData::callstacks);
      callstack.add_uint64(Callstack::iid, number);
      for (const uint64_t frame : numbers)
        callstack.add_uint64(Callstack::frames, frame);
    });
  return number;
}

} // namespace ovnitrace::perfetto
