// SPDX-License-Identifier: BSD-2-Clause
// docs/models.md lists every model, channel and event, in the words of the tables in the code.
#include "emulator/format/event_names.h"
#include "emulator/models/registry.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
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
  std::ifstream in(std::filesystem::path(__FILE__).parent_path() / "../../docs/models.md");
  std::stringstream text;
  text << in.rdbuf();
  std::string doc = text.str();
  ASSERT_FALSE(doc.empty()) << "run from the root of the project";
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
