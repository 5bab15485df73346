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

TEST(Models, NameTheValueZeroOfEachChannel) {
  std::string text; // a line of a model: names, as often as channels in a row have them
  for (const Model &model : builtin_models()) {
    text += model.name + ":";
    for (size_t n = 0, of = 0; n < model.channels.size(); n += of) {
      const std::string &none = model.channels[n].none;
      for (of = 1; n + of < model.channels.size() && model.channels[n + of].none == none;)
        of++;
      text += fmt::format(" {} {}.", of, none);
    }
    text += '\n';
  }
  EXPECT_EQ("\n" + text, R"(
ovni: 2 Not running. 1 None. 1 No CPU. 1 Idle. 1 Not running. 1 Not flushing.
capture: 1 Nothing is lost. 1 None. 1 Nothing is lost. 1 Neither was called. 2 No mark.
context switch: 1 On the CPU.
mark:
kernel: 1 On a CPU, woken, or not known. 1 Nobody, or on a CPU. 1 Not running, or not known.
blocked_in: 1 None.
wakeup: 1 No thread. 2 No wakeup.
user: 16 None. 1 No section. 15 None.
interrupt: 2 No interrupt. 1 None.
signal: 3 No signal.
priority: 1 No change. 1 Not known.
mutex: 1 No mutex. 1 Nothing. 1 No mutex.
timer: 3 No timer. 1 Not late, or not known. 1 No timer.
server: 1 No budget known. 1 Not known. 1 No overrun. 1 Nothing. 1 No server. 1 None.
cycle: 1 No cycle. 1 No cycle ends. 1 No miss. 1 Not exceeded. 1 No cycle ends. 1 No timer.
shadow: 1 Nobody else.
CPU mode: 1 Not known. 1 On, or not known. 1 All are logged. 1 No pointer. 1 None.
power: 1 Not known. 1 None, or not known.
region:
callers:
)");
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
