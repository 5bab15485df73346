// SPDX-License-Identifier: BSD-2-Clause
// Models of users, good ones and bad ones.
#include "emulator/models/json_model.h"

#include "emulator/base/error.h"
#include "tests/unit/support/replay_rig.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>

#include <fstream>

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
  try {
    parse_json_model(text, "m.json", builtin_models());
  } catch (const Error &error) {
    return error.what();
  }
  return "(taken)";
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

TEST(JsonModel, ATruncatedTextIsRefused) {
  std::string text = kGood;
  for (size_t size = 0; size < text.size(); size++)
    EXPECT_NE(refusal(text.substr(0, size)), "(taken)") << size;
}

TEST(JsonModel, AFileThatIsMissingOrTooLargeIsRefused) {
  test::TempDir dir;
  EXPECT_THROW(load_json_model(dir / "none.json", {}), Error);
  EXPECT_THROW(load_json_model(dir.path(), {}), Error) << "a directory";
  std::ofstream(dir / "large.json") << std::string((1 << 20) + 1, ' ');
  EXPECT_THROW(load_json_model(dir / "large.json", {}), Error);
  std::ofstream(dir / "good.json") << kGood;
  EXPECT_EQ(load_json_model(dir / "good.json", {}).name, "phases");
}

} // namespace
} // namespace ovnitrace
