// SPDX-License-Identifier: BSD-2-Clause
// Models of users, good ones and bad ones.
#include "emulator/models/json_model.h"

#include "emulator/base/error.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/replay_rig.h"
#include "tests/unit/support/temp_dir.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <tuple>

namespace ovnitrace {
namespace {

using test::ReplayRig;
using test::Timeline;

constexpr const char *kGood = R"({
  "name": "phases", "about": "phases of the solver",
  "channels": [
    {"name": "phase", "type": 1000, "label": "Phase", "track": "running",
     "values": [{"value": 1, "label": "Read", "color": [1, 2, 3]}, {"value": 2, "label": "Solve"}]},
    {"name": "call", "type": 1001}, {"name": "hit", "type": 1002, "cpu_track": "none"}
  ],
  "events": [
    {"event": 0, "action": "set", "channel": "phase", "value": "par2"},
    {"event": 1, "par1": 7, "action": "push", "channel": "call", "value": "par2"},
    {"event": 1, "par1": 8, "action": "pop", "channel": "call", "value": "par2"},
    {"event": 2, "action": "punctual", "channel": "hit", "value": 42}
  ]})";

TEST(JsonModel, MapsUserEventsToItsChannels) {
  ReplayRig rig(1, 1, {builtin_models().front(), parse_json_model(kGood, "m.json", {})});
  rig.at(1).dispatch(0).at(10).user(0, 0, 2).at(20).user(1, 0, 5, 7).at(30).user(1, 0, 5, 8);
  rig.at(35).user(1, 0, 5, 9).at(40).user(2, 0, 0).at(50).sleep(0).flush();
  EXPECT_EQ(rig.faults(), 0u);
  EXPECT_EQ(rig.threads.timeline(0, 1000), (Timeline{{10, 2}, {50, 0}}));
  EXPECT_EQ(rig.cpus.timeline(0, 1000), (Timeline{{10, 2}, {50, 0}}));
  EXPECT_EQ(rig.threads.timeline(0, 1001), (Timeline{{20, 5}, {30, 0}}));
  EXPECT_EQ(rig.threads.timeline(0, 1002), (Timeline{{39, 42}, {40, 0}}));
  EXPECT_TRUE(rig.cpus.timeline(0, 1002).empty());
}

TEST(JsonModel, HasItsLabelsAndColours) {
  Model model = parse_json_model(kGood, "m.json", {});
  EXPECT_EQ(model.name, "phases");
  ASSERT_EQ(model.channels.size(), 3u);
  EXPECT_EQ(model.channels[0].values[1].label, "Solve");
  EXPECT_EQ(model.channels[0].colors[0].color.blue, 3);
}

/// The message with which a text is refused.
std::string refusal(const std::string &text) {
  return test::error_from([&] { parse_json_model(text, "m.json", builtin_models()); });
}

/// kGood with a part of it replaced.
std::string with(const std::string &part, const std::string &other) {
  std::string text = kGood;
  size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), other);
}

TEST(JsonModel, ErrorsHaveAPlaceAndAReason) {
  const std::pair<std::string, const char *> cases[] = {
      {"", "model m.json: is no JSON: "},
      {"[1, 2]", "model m.json: /: must be an object"},
      {"{}", "model m.json: /name: must be a text"},
      {with("\"about\"", "\"abuot\""), "/: unknown member \"abuot\"; known are name"},
      {with("1000", "999"), "/channels/0/type: must be a whole number from 1000"},
      {with("1000", "1e3"), "/channels/0/type: must be a whole number"},
      {with("1001", "1000"), "/channels/1/type: 1000 is the type of channel 'phase'"},
      {with("1000", "70000001"),
       "/channels/0/type: 70000001 is a type of the functions on stacks, which have 70000001 to "
       "70000005"},
      {with("1000", "80000005"), "80000005 is a type of the lines on stacks, which have 80000001"},
      {with("\"running\"", "\"run\""),
       "/channels/0/track: \"run\" is not one of none, running, active"},
      {with("[1, 2, 3]", "[1, 2]"), "/channels/0/values/0/color: must be [red, green, blue]"},
      {with("[1, 2, 3]", "[1, 2, 256]"), "/channels/0/values/0/color/2: must be a whole number"},
      {with("\"name\": \"call\"", "\"name\": \"phase\""), "/channels/1/name: is the name"},
      {with("\"event\": 2", "\"event\": 15"),
       "/events/3/event: must be a whole number from 0 to 14"},
      {with("\"event\": 2", "\"event\": -1"),
       "/events/3/event: must be a whole number from 0 to 14"},
      {with("\"par1\": 7", "\"par1\": 65536"), "/events/1/par1: must be a whole number from 0"},
      {with("\"push\"", "\"shove\""), "/events/1/action: \"shove\" is not one of set, push, pop"},
      {with("\"channel\": \"hit\"", "\"channel\": \"h\""), "/events/3/channel: no channel \"h\""},
      {with("\"value\": 42", "\"value\": \"par3\""),
       "/events/3/value: \"par3\" is not one of par1, par2"},
      {with("\"value\": 42", "\"value\": 99999999999999999999"),
       "/events/3/value: must be a whole"},
      {std::string(100000, '['), "model m.json: is nested deeper than 64 levels"},
      {"{\"name\": \"m\", \"channels\": {}, \"events\": []}", "/channels: must be an array"},
      {"{\"name\": \"m\", \"channels\": [1], \"events\": []}", "/channels/0: must be an object"},
      {"{\"name\": \"m\", \"channels\": [], \"events\": []}", "/channels: must not be empty"},
      {"{\"name\": \"m\", \"channels\": [{\"name\": \"c\", \"type\": 1000}]}",
       "/events: must be an array"},
      {"{\"name\": \"m\", \"channels\": [{\"name\": \"c\", \"type\": 1000}], \"events\": []}",
       "/events: must not be empty"},
      {"{\"name\": \"m\", \"name\": \"n\"}", "has the member \"name\" twice"},
      {"{\"name\": \"m\", \"channels\": [{\"name\": \"c\", \"type\": 1000, \"values\": "
       "[{\"value\": 1, \"label\": \"a\"}, {\"value\": 1, \"label\": \"b\"}]}], \"events\": []}",
       "/channels/0/values/1/value: has a label already"},
      {with("\"channel\": \"hit\"", "\"channel\": \"h\\u001b[2J\""), "no channel \"h?[2J\""},
  };
  for (const auto &[text, message] : cases)
    EXPECT_NE(refusal(text).find(message), std::string::npos)
        << refusal(text) << "\nshould say: " << message;
}

/// A model of `channels` channels and `rules` entries of "events".
std::string model_of(size_t channels, size_t rules) {
  std::string text = R"({"name": "m", "channels": [)";
  for (size_t n = 0; n < channels; n++)
    text += fmt::format(R"({}{{"name": "c{}", "type": {}}})", n ? "," : "", n, 1000 + n);
  text += R"(], "events": [)";
  for (size_t n = 0; n < rules; n++)
    text += std::string(n ? "," : "") + R"({"event": 0, "action": "set", "channel": "c0"})";
  return text + "]}";
}

TEST(JsonModel, MayHave256ChannelsAnd4096Events) {
  EXPECT_EQ(refusal(model_of(256, 4096)), "");
  EXPECT_EQ(refusal(model_of(257, 1)),
            "model m.json: /channels: has 257 items; at most 256 are allowed");
  EXPECT_EQ(refusal(model_of(1, 4097)),
            "model m.json: /events: has 4097 items; at most 4096 are allowed");
}

TEST(JsonModel, NumbersAreTakenUpToTheirLimits) {
  const std::tuple<const char *, std::vector<const char *>, std::vector<const char *>> cases[] = {
      {"1002", {"1000000", "2147483647"}, {"999", "2147483648", "-1"}},
      {"\"value\": 42", {"2147483647", "-2147483648"}, {"2147483648", "-2147483649"}},
      {"\"value\": 2", {"2147483647", "-2147483648"}, {"2147483648", "-2147483649"}},
      {"\"event\": 2", {"0", "14"}, {"15", "-1", "2.0"}},
      {"\"par1\": 7", {"0", "65535"}, {"65536", "-1"}},
      {"[1, 2, 3]", {"[0, 255, 0]"}, {"[256, 2, 3]", "[1, 2, -1]", "[1, 2, 3, 4]", "7"}},
  };
  for (const auto &[part, good, bad] : cases) {
    const std::string text = part, key = text.substr(0, text.find(':') + 1);
    const std::string start = text.find(':') == text.npos ? "" : key + " ";
    for (const char *value : good)
      EXPECT_EQ(refusal(with(part, start + value)), "") << part << " " << value;
    for (const char *value : bad)
      EXPECT_NE(refusal(with(part, start + value)), "") << part << " " << value;
  }
}

TEST(JsonModel, MessagesSayAllThatIsAllowed) {
  EXPECT_EQ(refusal(with("1002", "999")),
            "model m.json: /channels/2/type: must be a whole number from 1000 to 2147483647");
  EXPECT_EQ(refusal(with("\"about\"", "\"abuot\"")),
            "model m.json: /: unknown member \"abuot\"; known are name, about, channels, events");
  EXPECT_EQ(
      refusal(with("\"cpu_track\"", "\"cpu\"")),
      "model m.json: /channels/2: unknown member \"cpu\"; known are name, type, label, track, "
      "cpu_track, paint, values");
  EXPECT_EQ(
      refusal(with("\"color\"", "\"colour\"")),
      "model m.json: /channels/0/values/0: unknown member \"colour\"; known are value, label, "
      "color");
  EXPECT_EQ(refusal(with("\"par1\": 7", "\"par2\": 7")),
            "model m.json: /events/1: unknown member \"par2\"; known are event, par1, action, "
            "channel, value");
  EXPECT_EQ(refusal(with("\"Solve\"", "\"\"")),
            "model m.json: /channels/0/values/1/label: must be a text that is not empty");
  EXPECT_EQ(refusal(with("[1, 2, 3]", "[1, 2]")),
            "model m.json: /channels/0/values/0/color: must be [red, green, blue], and a negative "
            "value has no color");
  EXPECT_EQ(refusal(with("\"value\": 1, ", "\"value\": -1, ")),
            refusal(with("[1, 2, 3]", "[1, 2]")));
  EXPECT_EQ(refusal(with("\"push\"", "\"shove\"")),
            "model m.json: /events/1/action: \"shove\" is not one of set, push, pop, punctual");
  EXPECT_EQ(refusal(with("\"channel\": \"hit\"", "\"channel\": \"h\"")),
            "model m.json: /events/3/channel: no channel \"h\" is declared");
  EXPECT_EQ(refusal(with("\"name\": \"call\"", "\"name\": \"phase\"")),
            "model m.json: /channels/1/name: is the name of another channel too");
  EXPECT_EQ(refusal(with("1000", "80000005")),
            "model m.json: /channels/0/type: 80000005 is a type of the lines on stacks, which have "
            "80000001 to 80000005");
  for (const char *free : {"70000000", "70000006", "80000000", "80000006"})
    EXPECT_EQ(refusal(with("1000", free)), "") << free;
}

TEST(JsonModel, TypesOfOtherModelsAreTheirs) {
  Model other{"other",
              "",
              {{.name = "a", .label = "A", .thread_type = 1000},
               {.name = "b", .label = "B", .cpu_type = 1002}}};
  const auto refused = [&](const std::string &text) {
    return test::error_from([&] { parse_json_model(text, "m.json", {other}); });
  };
  EXPECT_EQ(refused(kGood),
            "model m.json: /channels/0/type: 1000 is the type of channel 'a' of model 'other'");
  EXPECT_EQ(refused(with("1000", "2000")),
            "model m.json: /channels/2/type: 1002 is the type of channel 'b' of model 'other'");
}

TEST(JsonModel, MembersThatAreMissingHaveTheirDefaults) {
  const Model model = parse_json_model(
      R"({"name": "m", "channels": [{"name": "a", "type": 1000}, {"name": "b", "type": 1001,
          "track": "active", "cpu_track": "active", "paint": "gradient"},
          {"name": "c", "type": 1002, "track": "none", "cpu_track": "none", "paint": "code"}],
          "events": [{"event": 3, "action": "set", "channel": "a"}]})",
      "m.json", {});
  EXPECT_EQ(model.about, "");
  EXPECT_EQ(model.channels[0].label, "a");
  EXPECT_EQ(model.channels[0].thread_track, Track::none);
  EXPECT_EQ(model.channels[0].cpu_track, Track::running);
  EXPECT_EQ(model.channels[0].cpu_type, 1000u);
  EXPECT_EQ(model.channels[0].paint, Paint::code);
  EXPECT_EQ(model.channels[1].thread_track, Track::active);
  EXPECT_EQ(model.channels[1].cpu_track, Track::active);
  EXPECT_EQ(model.channels[1].paint, Paint::gradient);
  EXPECT_EQ(model.channels[2].cpu_type, 0u);
  EXPECT_EQ(model.channels[2].paint, Paint::code);
  ASSERT_EQ(model.events.size(), 1u);
  EXPECT_EQ(model.events[0].kind, 3u << 4 | FTrace_EVT_user_event_0);
  ReplayRig rig(1, 1, {builtin_models().front(), model});
  rig.at(1).dispatch(0).at(10).user(3, 0, 7, 9).flush();
  EXPECT_EQ(rig.threads.timeline(0, 1000), (Timeline{{10, 7}})) << "parameter 2";
}

TEST(JsonModel, AllEntriesOfAnEventApplyInTheirOrder) {
  const Model model = parse_json_model(
      R"({"name": "m", "channels": [{"name": "a", "type": 1000}, {"name": "b", "type": 1001}],
          "events": [{"event": 0, "par1": 5, "action": "set", "channel": "a", "value": 1},
                     {"event": 0, "action": "set", "channel": "a", "value": "par1"},
                     {"event": 0, "action": "set", "channel": "b", "value": -3},
                     {"event": 0, "par1": 6, "action": "set", "channel": "b", "value": 2}]})",
      "m.json", {});
  ReplayRig rig(1, 1, {builtin_models().front(), model});
  rig.at(1).dispatch(0).at(10).user(0, 0, 7, 5).at(20).user(0, 0, 7, 6).flush();
  EXPECT_EQ(rig.threads.timeline(0, 1000), (Timeline{{10, 5}, {20, 6}}));
  EXPECT_EQ(rig.threads.timeline(0, 1001), (Timeline{{10, -3}, {20, 2}}));
}

TEST(JsonModel, AnEventWhereNoThreadRunsIsOneFault) {
  ReplayRig rig(1, 1, {builtin_models().front(), parse_json_model(kGood, "m.json", {})});
  rig.at(1).ftrace(FTrace_EVT_user_event_0, kNone, 0, 2);
  EXPECT_EQ(rig.faults(), 1u);
  EXPECT_EQ(rig.last_fault(), "user event on CPU 0, where no known thread runs");
  rig.at(2).ftrace(FTrace_EVT_user_event_1, kNone, 0, 2, kNone, 9);
  EXPECT_EQ(rig.faults(), 1u) << "no entry is of this parameter 1";
}

TEST(JsonModel, ATruncatedTextIsRefused) {
  std::string text = kGood;
  for (size_t size = 0; size < text.size(); size++)
    EXPECT_NE(refusal(text.substr(0, size)), "") << size;
}

TEST(JsonModel, AFileThatIsMissingOrTooLargeIsRefused) {
  test::TempDir dir;
  try {
    load_json_model(dir / "none.json", {});
    ADD_FAILURE() << "it was read";
  } catch (const Error &error) {
    EXPECT_EQ(std::string(error.what()), "cannot read the model " + dir / "none.json" +
                                             ": cannot be opened: No such file or directory");
  }
  EXPECT_THROW(load_json_model(dir.path(), {}), Error) << "a directory";
  std::ofstream(dir / "large.json") << std::string((1 << 20) + 1, ' ');
  EXPECT_THROW(load_json_model(dir / "large.json", {}), Error);
  std::ofstream(dir / "good.json") << kGood;
  EXPECT_EQ(load_json_model(dir / "good.json", {}).name, "phases");
}

} // namespace
} // namespace ovnitrace
