// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/models/json_model.h"

#include "emulator/base/bounded_json.h"
#include "emulator/base/error.h"
#include "emulator/base/printable.h"
#include "emulator/base/small_file.h"
#include "emulator/models/callers.h"
#include "emulator/models/user_thread.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ovnitrace/ftrace_codes.h>

#include <array>
#include <limits>
#include <optional>
#include <set>

namespace ovnitrace {

namespace {

using nlohmann::json;

constexpr size_t kMaxBytes = 1 << 20;
constexpr size_t kMaxValues = 1 << 19;
constexpr size_t kMaxChannels = 256;
constexpr size_t kMaxRules = 4096;
constexpr uint32_t kUserEvents = 15;
constexpr int64_t kFirstType = 1000;
constexpr int64_t kLastType =
    std::numeric_limits<int32_t>::max(); // Paraver loses labels of larger types

enum class Act { set, push, pop, punctual };
enum class From { fixed, par1, par2 };

/// What an entry of "events" does.
struct Rule {
  std::optional<uint16_t> par1; ///< only events with this parameter 1
  Act act = Act::set;
  uint32_t channel = 0;
  From from = From::par2;
  int64_t fixed = 0;
};
using Rules = std::array<std::vector<Rule>, kUserEvents>; ///< by number of the user event

int64_t value_of(const Rule &rule, const Event &event) {
  switch (rule.from) {
  case From::par1:
    return event.par1;
  case From::par2:
    return event.par2;
  default:
    return rule.fixed;
  }
}

void apply(ModelContext &ctx, const Event &event, uint32_t thread, const Rule &rule) {
  int64_t value = value_of(rule, event);
  switch (rule.act) {
  case Act::set:
    return ctx.set(rule.channel, thread, value);
  case Act::push:
    return ctx.push(event, rule.channel, thread, value);
  case Act::pop:
    return ctx.pop(event, rule.channel, thread, value);
  case Act::punctual:
    return ctx.punctual(rule.channel, thread, value);
  }
}

void user_event(ModelContext &ctx, const Event &event) {
  uint32_t thread = kNone;
  for (const Rule &rule : ctx.own<Rules>()[event.kind >> 4]) {
    if (rule.par1 && *rule.par1 != event.par1)
      continue;
    if (thread == kNone && (thread = user_thread(ctx, event)) == kNone)
      return;
    apply(ctx, event, thread, rule);
  }
}

/// A value of the file, with its place in it for messages.
class Place {
public:
  Place(const json &value, const std::string &file, std::string path)
      : value_(value), file_(file), path_(std::move(path)) {}

  [[noreturn]] void fail(const std::string &why) const {
    throw Error(
        printable_line(fmt::format("model {}: {}: {}", file_, path_.empty() ? "/" : path_, why)));
  }

  /// Returns the member `key`, null if it is absent.
  Place operator[](const char *key) const {
    static const json null;
    auto at = value_.find(key);
    return {at == value_.end() ? null : *at, file_, path_ + "/" + key};
  }
  Place item(size_t i) const { return {value_[i], file_, fmt::format("{}/{}", path_, i)}; }
  bool absent() const { return value_.is_null(); }

  /// Checks that an object has only these members: otherwise a misspelt one would be ignored.
  const Place &object(std::initializer_list<const char *> keys) const {
    if (!value_.is_object())
      fail("must be an object");
    for (const auto &[key, unused] : value_.items())
      if (std::none_of(keys.begin(), keys.end(), [&k = key](const char *o) { return k == o; }))
        fail(fmt::format("unknown member \"{}\"; known are {}", key, fmt::join(keys, ", ")));
    return *this;
  }
  size_t array(size_t max) const {
    if (!value_.is_array())
      fail("must be an array");
    if (value_.size() > max)
      fail(fmt::format("has {} items; at most {} are allowed", value_.size(), max));
    return value_.size();
  }
  std::string text() const {
    if (!value_.is_string() || value_.get_ref<const std::string &>().empty())
      fail("must be a text that is not empty");
    return printable_line(value_.get<std::string>());
  }
  /// Does the same for what must not be empty.
  size_t some(size_t max) const {
    if (array(max) == 0)
      fail("must not be empty");
    return value_.size();
  }
  bool is_text() const { return value_.is_string(); }
  int64_t number(int64_t min, int64_t max) const {
    bool fits = value_.is_number_unsigned()
                    ? value_.get<uint64_t>() <= uint64_t(std::numeric_limits<int64_t>::max())
                    : value_.is_number_integer();
    if (!fits || value_.get<int64_t>() < min || value_.get<int64_t>() > max)
      fail(fmt::format("must be a whole number from {} to {}", min, max));
    return value_.get<int64_t>();
  }
  /// Returns the position of the text in `names`.
  template <size_t n> size_t one_of(const std::array<const char *, n> &names) const {
    std::string given = text();
    for (size_t i = 0; i < n; i++)
      if (given == names[i])
        return i;
    fail(fmt::format("\"{}\" is not one of {}", given, fmt::join(names, ", ")));
  }

private:
  const json &value_;
  const std::string &file_;
  std::string path_;
};

constexpr std::array<const char *, 3> kTracks = {"none", "running", "active"};
constexpr std::array<const char *, 2> kPaints = {"code", "gradient"};
constexpr std::array<const char *, 4> kActs = {"set", "push", "pop", "punctual"};
constexpr std::array<const char *, 2> kParameters = {"par1", "par2"};

void parse_value(const Place &place, ChannelDef &def) {
  place.object({"value", "label", "color"});
  int64_t value = place["value"].number(std::numeric_limits<int32_t>::min(), kLastType);
  def.values.push_back({value, place["label"].text()});
  Place color = place["color"];
  if (color.absent())
    return;
  if (color.array(3) != 3 || value < 0)
    color.fail("must be [red, green, blue], and a negative value has no color");
  auto part = [&](size_t i) { return uint8_t(color.item(i).number(0, 255)); };
  def.colors.push_back({value, {part(0), part(1), part(2)}});
}

ChannelDef parse_channel(const Place &place) {
  place.object({"name", "type", "label", "track", "cpu_track", "paint", "values"});
  ChannelDef def;
  def.name = place["name"].text();
  def.label = place["label"].absent() ? def.name : place["label"].text();
  def.thread_type = uint32_t(place["type"].number(kFirstType, kLastType));
  if (!place["track"].absent())
    def.thread_track = Track(place["track"].one_of(kTracks));
  def.cpu_track = Track::running;
  if (!place["cpu_track"].absent())
    def.cpu_track = Track(place["cpu_track"].one_of(kTracks));
  def.cpu_type = def.cpu_track == Track::none ? 0 : def.thread_type;
  if (!place["paint"].absent())
    def.paint = Paint(place["paint"].one_of(kPaints));
  std::set<int64_t> labelled;
  if (!place["values"].absent())
    for (size_t i = 0, n = place["values"].array(kMaxBytes); i < n; i++) {
      parse_value(place["values"].item(i), def);
      if (!labelled.insert(def.values.back().value).second)
        place["values"].item(i)["value"].fail("has a label already");
    }
  return def;
}

/// Refuses the types of callers_model(), which declares its channels later.
void check_callers(const Place &type, uint32_t number) {
  constexpr std::pair<uint32_t, const char *> kCallers[] = {{kFunctionType, "functions"},
                                                            {kLineType, "lines"}};
  for (const auto &[types, what] : kCallers)
    if (number > types && number <= types + kCallerLevels)
      type.fail(fmt::format("{} is a type of the {} on stacks, which have {} to {}", number, what,
                            types + 1, types + kCallerLevels));
}

void check_type(const Place &place, const ChannelDef &def, const Model &other) {
  for (const ChannelDef &taken : other.channels) {
    if (taken.thread_type == def.thread_type || taken.cpu_type == def.thread_type)
      place["type"].fail(fmt::format("{} is the type of channel '{}' of model '{}'",
                                     def.thread_type, taken.name, other.name));
  }
}

uint32_t find_channel(const Place &place, const Model &model) {
  std::string name = place.text();
  for (uint32_t c = 0; c < model.channels.size(); c++)
    if (model.channels[c].name == name)
      return c;
  place.fail(fmt::format("no channel \"{}\" is declared", name));
}

Rule parse_rule(const Place &place, const Model &model) {
  Rule rule;
  if (!place["par1"].absent())
    rule.par1 = uint16_t(place["par1"].number(0, UINT16_MAX));
  rule.act = Act(place["action"].one_of(kActs));
  rule.channel = find_channel(place["channel"], model);
  Place value = place["value"];
  if (value.is_text())
    rule.from = value.one_of(kParameters) == 0 ? From::par1 : From::par2;
  else if (!value.absent()) {
    rule.from = From::fixed;
    rule.fixed = value.number(std::numeric_limits<int32_t>::min(), kLastType);
  }
  return rule;
}

void parse_rules(const Place &place, Model &model) {
  Rules rules;
  for (size_t i = 0, n = place.some(kMaxRules); i < n; i++) {
    Place entry = place.item(i);
    entry.object({"event", "par1", "action", "channel", "value"});
    uint32_t number = uint32_t(entry["event"].number(0, kUserEvents - 1));
    if (rules[number].empty()) {
      uint32_t code = number << 4 | FTrace_EVT_user_event_0;
      model.events.push_back({code, user_event, "as the model's file says", false});
    }
    rules[number].push_back(parse_rule(entry, model));
  }
  model.start = [rules](ModelContext &ctx) { ctx.keep(rules); };
}

} // namespace

Model parse_json_model(const std::string &text, const std::string &path,
                       const std::vector<Model> &others) {
  json root;
  if (std::string why; !parse_json(text, kMaxValues, root, why))
    throw Error("model {}: {}", path, why);
  Place top(root, path, "");
  top.object({"name", "about", "channels", "events"});
  Model model;
  model.name = top["name"].text();
  if (!top["about"].absent())
    model.about = top["about"].text();
  Place channels = top["channels"];
  for (size_t i = 0, n = channels.some(kMaxChannels); i < n; i++) {
    ChannelDef def = parse_channel(channels.item(i));
    for (const ChannelDef &before : model.channels)
      if (before.name == def.name)
        channels.item(i)["name"].fail("is the name of another channel too");
    check_callers(channels.item(i)["type"], def.thread_type);
    check_type(channels.item(i), def, model);
    for (const Model &other : others)
      check_type(channels.item(i), def, other);
    model.channels.push_back(std::move(def));
  }
  parse_rules(top["events"], model);
  return model;
}

Model load_json_model(const std::string &path, const std::vector<Model> &others) {
  std::string why;
  const std::optional<std::string> text = read_small_file(path, kMaxBytes, why);
  if (!text)
    throw Error("cannot read the model {}: {}", path, why);
  return parse_json_model(*text, path, others);
}

} // namespace ovnitrace
