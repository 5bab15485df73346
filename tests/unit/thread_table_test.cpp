// SPDX-License-Identifier: BSD-2-Clause
// Threads by tid, birth and time: emulator/input/thread_table.
#include "emulator/input/thread_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

namespace ovnitrace {
namespace {

TEST(ThreadTable, FindsEveryThreadOfItsHostAndNoOther) {
  Catalog catalog;
  for (uint32_t i = 0; i < 3000; i++)
    catalog.threads.push_back(
        {.tid = i / 3 * 4096, .host = i % 7 == 0, .birth = i % 3 * 100, .name = ""});
  for (uint32_t host : {0u, 1u}) {
    const ThreadTable table(catalog, host);
    for (uint32_t i = 0; i < 3000; i++) {
      const ThreadInfo &thread = catalog.threads[i];
      EXPECT_EQ(table.find(thread.tid, thread.birth), thread.host == host ? i : kNone);
      EXPECT_EQ(table.find(thread.tid + 1, thread.birth), kNone);
      EXPECT_EQ(table.find(thread.tid, thread.birth + 1), kNone);
    }
  }
}

/// With tids that are multiples of `step`.
void grow_beside_a_map(uint32_t step) {
  ThreadTable table;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> model;
  std::mt19937 random(7);
  for (uint32_t n = 0; n < 20000; n++) {
    const uint32_t tid = uint32_t(random() % 5000) * step;
    const uint64_t birth = 1 + random() % 3;
    const auto [expected, added] = model.try_emplace({tid, birth}, n);
    EXPECT_EQ(table.find(tid, birth), added ? kNone : expected->second);
    EXPECT_EQ(table.find_or_add(tid, birth, n), expected->second);
  }
  for (const auto &[key, number] : model)
    EXPECT_EQ(table.find(key.first, key.second), number);
  for (uint32_t n = 0; n < 20000; n++) {
    const uint32_t tid = uint32_t(random() % 5000) * step;
    const uint64_t time = random() % 4;
    uint32_t latest = kNone;
    for (auto at = model.lower_bound({tid, 0}); at != model.end() && at->first.first == tid; at++)
      if (at->first.second <= time)
        latest = at->second;
    EXPECT_EQ(table.latest(tid, time), latest);
  }
}

TEST(ThreadTable, AgreesWithAMap) {
  grow_beside_a_map(4096);
}

TEST(ThreadTable, AgreesWithAMapIfAllTidsCollide) {
  grow_beside_a_map(0x144cbc89); // its product with the factor of the hash is 1
}

TEST(ThreadTable, KnowsWhoHadATidWhen) {
  Catalog catalog;
  for (uint64_t birth : {100, 200, 300})
    catalog.threads.push_back({.tid = 5, .birth = birth, .name = ""});
  catalog.threads[1].end = 250;
  catalog.threads.push_back({.tid = 6, .birth = 100, .name = "", .end = 200});
  const ThreadTable table(catalog, 0);
  EXPECT_EQ(table.latest(5, 99), kNone) << "not born yet";
  EXPECT_EQ(table.latest(5, 100), 0u);
  EXPECT_EQ(table.latest(5, 199), 0u);
  EXPECT_EQ(table.latest(5, 200), 1u);
  EXPECT_EQ(table.latest(5, 250), 1u) << "its last event";
  EXPECT_EQ(table.latest(5, 251), kNone) << "and not the one before";
  EXPECT_EQ(table.latest(5, 299), kNone);
  EXPECT_EQ(table.latest(5, UINT64_MAX), 2u) << "nothing says that it ended";
  EXPECT_EQ(table.latest(6, 99), kNone);
  EXPECT_EQ(table.latest(6, 100), 3u);
  EXPECT_EQ(table.latest(6, 200), 3u);
  EXPECT_EQ(table.latest(6, 201), kNone);
  EXPECT_EQ(table.latest(6, 201, true), 3u) << "no other thread with its tid is known";
  EXPECT_EQ(table.latest(6, 99, true), kNone);
  EXPECT_EQ(table.latest(4, 100), kNone);
  EXPECT_EQ(ThreadTable({}, 0).latest(0, 100), kNone);
  EXPECT_EQ(ThreadTable({}, 0).find(0, 0), kNone);
}

TEST(ThreadTable, WhatAThreadDidCountsUntilAnUntracedThreadHasItsTid) {
  Catalog catalog;
  catalog.hosts.resize(2);
  catalog.hosts[1].peers = {{.tid = 5, .pid = 5, .since_ns = 99, .name = ""},
                            {.tid = 5, .pid = 5, .since_ns = 200, .name = ""},
                            {.tid = 5, .pid = 5, .since_ns = 230, .name = ""},
                            {.tid = 6, .pid = 6, .since_ns = 300, .name = ""}};
  catalog.threads = {{.tid = 5, .host = 0, .birth = 100, .name = "", .end = 200},
                     {.tid = 5, .host = 1, .birth = 100, .name = "", .end = 200},
                     {.tid = 5, .host = 1, .birth = 400, .name = ""},
                     {.tid = 7, .host = 1, .birth = 100, .name = "", .end = 200}};
  const ThreadTable table(catalog, 1);
  EXPECT_EQ(table.latest(5, 99, true), kNone);
  EXPECT_EQ(table.latest(5, 201), kNone);
  EXPECT_EQ(table.latest(5, 229, true), 1u);
  EXPECT_EQ(table.latest(5, 230, true), kNone);
  EXPECT_EQ(table.latest(5, 399, true), kNone);
  EXPECT_EQ(table.latest(5, 400, true), 2u);
  EXPECT_EQ(table.latest(7, UINT64_MAX, true), 3u);
  EXPECT_EQ(ThreadTable(catalog, 0).latest(5, 300, true), 0u) << "on another host";
}

} // namespace
} // namespace ovnitrace
