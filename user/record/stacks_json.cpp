// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/stacks_json.h"

#include "user/record/json_list.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ovnitrace {

namespace {

using Json = nlohmann::ordered_json;

/// New numbers, from 0 on, in the order in which they are asked for.
class Renumbering {
public:
  explicit Renumbering(size_t count) : numbers_(count) {}
  uint32_t of(uint32_t index) {
    if (!numbers_[index]) {
      numbers_[index] = uint32_t(order_.size());
      order_.push_back(index);
    }
    return *numbers_[index];
  }
  const std::vector<uint32_t> &order() const { return order_; } ///< index by new number

private:
  std::vector<std::optional<uint32_t>> numbers_;
  std::vector<uint32_t> order_;
};

void add_place(const CodePlace &place, Json &json) {
  if (!place.function.empty())
    json["function"] = place.function;
  if (!place.source.empty())
    json["source"] = place.source;
  if (place.line)
    json["line"] = place.line;
}

Json json_of(const CapturedFrame &frame, const NamedFrame &named, Renumbering &files) {
  Json json = Json::object();
  switch (frame.kind) {
  case CapturedFrame::kernel:
    json["kernel"] = true;
    json["offset"] = named.offset;
    if (named.module)
      json["file"] = files.of(*named.module);
    break;
  case CapturedFrame::file:
    json["file"] = files.of(frame.where);
    json["offset"] = named.offset;
    if (named.address)
      json["address"] = *named.address;
    break;
  case CapturedFrame::process:
  case CapturedFrame::unknown:
    json["pid"] = frame.where;
    json["address"] = frame.address;
    break;
  case CapturedFrame::missing:
    json["missing"] = true;
    break;
  }
  add_place(named.places.back(), json);
  for (size_t n = 0; n + 1 < named.places.size(); n++) {
    Json inlined = Json::object();
    add_place(named.places[n], inlined);
    json["inlined"].push_back(std::move(inlined));
  }
  return json;
}

} // namespace

void write_stacks(const NamedStacks &stacks, const Put &put) {
  const CapturedStacks &captured = stacks.captured;
  Renumbering frames(captured.frames.size()), files(captured.files.size());
  {
    JsonList list("stacks", put);
    for (size_t n = 0; n < captured.stacks.size(); n++) {
      const CapturedStacks::Stack &stack = captured.stacks[n];
      Json json = Json::object(), kernel = Json::array(), user = Json::array();
      for (uint32_t i = 0; i < stack.kernel + stack.user; i++)
        (i < stack.kernel ? kernel : user).push_back(frames.of(captured.places[stack.first + i]));
      if (stack.user && stacks.cut[n])
        user.push_back(frames.of(stacks.missing));
      if (stack.kernel)
        json["kernel"] = std::move(kernel);
      if (stack.user)
        json["user"] = std::move(user);
      if (stacks.cut[n])
        json["cut"] = true;
      list.add(json);
    }
  }
  {
    JsonList list("stack_frames", put);
    for (const uint32_t index : frames.order())
      list.add(json_of(captured.frames[index], stacks.frames[index], files));
  }
  JsonList list("stack_files", put);
  for (const uint32_t index : files.order()) {
    Json json = {{"path", captured.files[index].path}};
    if (!stacks.build_ids[index].empty())
      json["build_id"] = stacks.build_ids[index];
    list.add(json);
  }
}

} // namespace ovnitrace
