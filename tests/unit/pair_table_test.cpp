// SPDX-License-Identifier: BSD-2-Clause
// The pairs of threads of a summary: in which order they come, and who the second thread is.
#include "emulator/summary/pair_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace {
namespace {

/// Threads 0 and 1 are of the first host, thread 2 of the second one.
class PairTables : public testing::Test {
protected:
  PairTables() {
    catalog.hosts.resize(2);
    catalog.hosts[0].peers = {{.tid = 70, .pid = 70, .name = "a"}};
    catalog.hosts[1].peers = {{.tid = 80, .pid = 80, .name = "b"}, {.tid = 70, .name = "c"}};
    catalog.threads.resize(3);
    catalog.threads[2].host = 1;
  }
  static Peer traced(uint32_t thread) { return {.tid = 10 + thread, .thread = thread}; }
  static Peer untraced(uint32_t tid) { return {.tid = tid, .thread = kNone}; }
  /// Returns "thread: peer, tid, name × count" of each pair; - is kNone.
  std::vector<std::string> pairs() const {
    const auto text = [](uint32_t number) {
      return number == kNone ? std::string("-") : std::to_string(number);
    };
    std::vector<std::string> all;
    for (const PairCount &of : table.sorted(catalog))
      all.push_back(text(of.thread) + ": " + text(of.peer) + ", " + text(of.tid) + ", " +
                    text(of.name) + " × " + std::to_string(of.count));
    return all;
  }
  using Texts = std::vector<std::string>;

  Catalog catalog;
  PairTable table{3};
};

TEST_F(PairTables, NameAThreadOrATidOrAnInterrupt) {
  table.add(2, traced(0), kNone);
  table.add(2, traced(0), 1);
  table.add(2, untraced(70), 1);
  table.add(2, untraced(80), 0);
  table.add(2, untraced(99), kNone);
  table.add(2, untraced(0), kNone);
  table.add(2, untraced(kNone), kNone);
  table.add_interrupt(2);
  EXPECT_EQ(pairs(), (Texts{"2: 0, -, - × 2", "2: -, 0, - × 1", "2: -, 70, 1 × 1",
                            "2: -, 80, 0 × 1", "2: -, 99, - × 1", "2: -, -, - × 1"}));
}

TEST_F(PairTables, AreSortedByCountThenByThreadAndPeer) {
  for (const uint32_t thread : {1, 0}) {
    for (const uint32_t peer : {2, 1, 2, 1})
      table.add(thread, traced(peer), kNone);
    table.add_interrupt(thread);
  }
  table.add(0, traced(1), kNone);
  table.add(1, untraced(5), kNone);
  EXPECT_EQ(pairs(), (Texts{"0: 1, -, - × 3", "0: 2, -, - × 2", "1: 1, -, - × 2", "1: 2, -, - × 2",
                            "0: -, -, - × 1", "1: -, 5, - × 1", "1: -, -, - × 1"}));
  EXPECT_EQ(pairs().size(), 7u) << "the table is still the same";
}

} // namespace
} // namespace ovnitrace
