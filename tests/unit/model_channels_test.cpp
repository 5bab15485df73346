// SPDX-License-Identifier: BSD-2-Clause
// Properties of all channels, also of those that a model declares only when a replay starts.
#include "emulator/core/replay.h"
#include "emulator/models/registry.h"
#include "tests/unit/support/collecting_sink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace ovnitrace {
namespace {

using Types = std::set<uint32_t>;

class ModelChannels : public ::testing::Test {
protected:
  ModelChannels() : replay(catalog(), builtin_models(), {}, sink, 0) {}
  static const Catalog &catalog() {
    static const Catalog catalog = [] {
      Catalog made;
      made.hosts = {{.name = "a"}};
      return made;
    }();
    return catalog;
  }
  /// Returns the PRV types of the channels that `is` accepts.
  template <class Is> Types types(Is is) {
    Types found;
    for (ChannelId id = 0; id < replay.system().channels().size(); id++)
      if (const ChannelDef &def = replay.system().channels().def(id); is(def))
        found.insert(std::max(def.thread_type, def.cpu_type));
    return found;
  }
  Types labelled(ChannelDef::Labels labels) {
    return types([&](const ChannelDef &def) { return def.labels == labels; });
  }
  /// Returns "name: label (label of 0, label of 0 on a CPU)".
  std::string texts(uint32_t type) {
    for (ChannelId id = 0; id < replay.system().channels().size(); id++)
      if (const ChannelDef &def = replay.system().channels().def(id);
          def.thread_type == type || def.cpu_type == type)
        return def.name + ": " + def.label + " (" + def.none + ", " + def.idle + ")";
    return "none";
  }

  test::CollectingSink sink;
  Replay replay;
};

TEST_F(ModelChannels, SizesAreGradients) {
  EXPECT_EQ(types([](const ChannelDef &def) { return def.paint == Paint::gradient; }),
            (Types{3, 11, 222, 402, 443, 451, 452, 461, 473, 501, 502}));
}

TEST_F(ModelChannels, NumbersOfTheTraceAreNamedAsTheTraceDoes) {
  using Labels = ChannelDef::Labels;
  EXPECT_EQ(labelled(Labels::threads), (Types{2, 201, 220, 464}));
  EXPECT_EQ(labelled(Labels::processes), (Types{1}));
  EXPECT_EQ(labelled(Labels::process_indices), (Types{5}));
  EXPECT_EQ(labelled(Labels::cpus), (Types{6}));
}

/// Which thread it waits for and the like is not known then either.
TEST_F(ModelChannels, WhatFollowsFromTheStateIsNotKnownWithoutIt) {
  EXPECT_EQ(types([](const ChannelDef &def) { return def.scheduling; }),
            (Types{200, 201, 202, 203, 220, 221, 222, 430, 450, 451, 464}));
}

TEST_F(ModelChannels, OfRegionsAndIdleStatesSayWhatTheyShow) {
  EXPECT_EQ(texts(480), "region: Region of --control (Not recorded, or no region, Idle)");
  EXPECT_EQ(texts(481), "region event: Event of --control (None, )");
  EXPECT_EQ(texts(500), "idle state: Idle state that the CPU is in (In none, or not known, )");
}

} // namespace
} // namespace ovnitrace
