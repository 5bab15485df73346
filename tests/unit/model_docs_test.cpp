// SPDX-License-Identifier: BSD-2-Clause
// docs/models.md lists every model, channel and event, in the words of the tables in the code.
#include "emulator/core/replay.h"
#include "emulator/format/event_names.h"
#include "emulator/models/registry.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/project_file.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <set>
#include <sstream>

namespace ovnitrace {
namespace {

const char *text_of(Track track) {
  const char *const names[] = {"–", "running", "active"};
  return names[size_t(track)];
}

std::string type_text(uint32_t type) {
  return type ? std::to_string(type) : "–";
}

std::string channel_line(const ChannelDef &def) {
  const char *cpu = def.scope == Scope::cpu ? "its own" : text_of(def.cpu_track);
  return fmt::format("| {} | {} | {} | {} | {} | {} |", type_text(def.thread_type),
                     type_text(def.cpu_type), def.name, def.label,
                     def.scope == Scope::cpu ? "–" : text_of(def.thread_track), cpu);
}

std::string event_line(const EventDef &event) {
  return fmt::format("| `{}` | {} |", kind_name(event.kind), event.what);
}

TEST(ModelDocs, ListEveryModelChannelAndEvent) {
  const std::string doc = test::project_file("docs/models.md");
  size_t at = 0;
  std::string missing;
  for (const Model &model : builtin_models()) {
    std::string heading = fmt::format("## {}: {}\n", model.name, model.about);
    size_t found = doc.find(heading, at);
    if (found == std::string::npos)
      missing += "\n" + heading + "\n";
    else
      at = found;
    std::string section = doc.substr(at, doc.find("\n## ", at + 1) - at);
    for (const ChannelDef &def : model.channels)
      if (section.find(channel_line(def) + "\n") == std::string::npos)
        missing += channel_line(def) + "\n";
    for (const EventDef &event : model.events)
      if (section.find(event_line(event) + "\n") == std::string::npos)
        missing += event_line(event) + "\n";
  }
  EXPECT_EQ(missing, "") << "is missing in docs/models.md";
}

/// The names in a table of docs/models.md, of its first column.
std::set<std::string> documented_events() {
  std::istringstream in(test::project_file("docs/models.md"));
  std::set<std::string> names;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("| `"))
      names.insert(line.substr(3, line.find('`', 3) - 3));
  return names;
}

/// Not what the tables say: what a replay does with each event of FTrace.
TEST(ModelDocs, AnEventIsDocumentedWhereAReplayTakesIt) {
  const std::set<std::string> documented = documented_events();
  ASSERT_FALSE(documented.empty()) << "run from the root of the project";
  Catalog catalog;
  catalog.hosts = {{"node"}};
  catalog.cpus.push_back({0, 0});
  catalog.threads.push_back({.tid = 1, .pid = 1, .name = "a"});
  catalog.files = {"file"};
  test::CollectingSink sink;
  for (uint32_t code = 0; code < 256; code++) {
    if (event_name(code) == "unknown" || code == FTrace_EVT_mutex_unlock_misprint)
      continue;
    Replay replay(catalog, builtin_models(), {}, sink, 0);
    replay.handle({.time = 1, .kind = code, .thread = 0, .cpu = 0});
    EXPECT_EQ(replay.untaken().empty(), documented.contains(kind_name(code))) << event_name(code);
  }
}

TEST(ModelDocs, HaveNoRowOfAnythingElse) {
  std::istringstream in(test::project_file("docs/models.md"));
  std::set<std::string> rows;
  for (const Model &model : builtin_models()) {
    for (const ChannelDef &def : model.channels)
      rows.insert(channel_line(def));
    for (const EventDef &event : model.events)
      rows.insert(event_line(event));
  }
  bool in_model = false; // behind a table's head of these two kinds
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("| thread | CPU | channel |") || line == "| event | what it does |")
      in_model = true;
    else if (!line.starts_with("|"))
      in_model = false;
    else if (in_model && !line.starts_with("|---")) {
      EXPECT_TRUE(rows.contains(line)) << line;
    }
  }
}

TEST(Registry, NoTwoChannelsShareAPrvType) {
  std::set<uint32_t> thread_types, cpu_types;
  for (const Model &model : builtin_models())
    for (const ChannelDef &def : model.channels) {
      if (def.thread_type) {
        EXPECT_TRUE(thread_types.insert(def.thread_type).second) << def.name;
      }
      if (def.cpu_type) {
        EXPECT_TRUE(cpu_types.insert(def.cpu_type).second) << def.name;
      }
    }
}

TEST(Registry, EveryChannelHasALabelAndItsOwnName) {
  std::set<std::string> names;
  for (const Model &model : builtin_models())
    for (const ChannelDef &def : model.channels) {
      EXPECT_FALSE(def.label.empty()) << def.name;
      EXPECT_TRUE(names.insert(def.name).second) << def.name << ": two cfgs of one name";
    }
}

} // namespace
} // namespace ovnitrace
