// SPDX-License-Identifier: BSD-2-Clause
// Names of values and of rows in Paraver, where two hosts use the same numbers.
#include "emulator/convert/labels.h"
#include "emulator/convert/layout.h"
#include "emulator/models/registry.h"
#include "tests/unit/support/error_from.h"

#include <gtest/gtest.h>

#include <map>

namespace ovnitrace {
namespace {

using Texts = std::vector<std::string>;
using Names = std::map<int64_t, std::string>;

class LabelsOfHosts : public ::testing::Test {
protected:
  LabelsOfHosts() {
    for (const Model &model : builtin_models())
      for (const ChannelDef &def : model.channels)
        defs_[def.name] = def;
    catalog_.hosts = {{.name = "one"}, {.name = "two"}, {.name = "three"}};
    catalog_.cpus = {{.index = 4, .host = 1}, {.index = 2, .host = 0}, {.index = 5, .host = 1}};
    catalog_.threads = {{.tid = 10, .pid = 10, .name = "main"},
                        {.tid = 11, .pid = 10, .name = "worker"},
                        {.tid = 20, .pid = 20, .name = "other"},
                        {.tid = 10, .pid = 10, .host = 1, .name = "far"},
                        {.tid = 12, .pid = 10, .host = 1, .name = "near"}};
    catalog_.date = 1234;
  }
  Names names(const std::string &channel, TraceKind kind = TraceKind::thread) {
    const System system(catalog_, {});
    Names all;
    for (const PcfValue &value : pcf_type(system, defs_.at(channel), kind).values)
      all[value.value] = value.label;
    return all;
  }

  Catalog catalog_;
  std::map<std::string, ChannelDef> defs_;
};

TEST_F(LabelsOfHosts, ATidHasTheNamesOfAllItsThreads) {
  catalog_.hosts[1].peers = {{.tid = 11, .name = "peer"}, {.tid = 99, .name = "alone"}};
  catalog_.hosts[2].peers = {{.tid = 99, .name = "alone"}};
  const Names tids = names("tid");
  EXPECT_EQ(tids.at(10), "main (10) | far (10)");
  EXPECT_EQ(tids.at(11), "worker (11) | peer (11)");
  EXPECT_EQ(tids.at(12), "near (12)");
  EXPECT_EQ(tids.at(99), "alone (99)") << "once";
  EXPECT_EQ(tids.size(), 6u) << "with that of 0";
}

TEST_F(LabelsOfHosts, FourNamesOfOneNumberAreShown) {
  for (const char *name : {"p", "q", "p"})
    catalog_.hosts[0].peers.push_back({.tid = 10, .name = name});
  EXPECT_EQ(names("tid").at(10), "main (10) | far (10) | p (10) | q (10)");
  catalog_.hosts[2].peers = {{.tid = 10, .name = "r"}, {.tid = 10, .name = "s"}};
  EXPECT_EQ(names("tid").at(10), "main (10) | far (10) | p (10) | q (10) | …");
}

/// Four threads have colours before them.
TEST_F(LabelsOfHosts, TheFirst4096NumbersHaveColours) {
  for (uint32_t n = 0; n < 4100; n++)
    catalog_.hosts[1].peers.push_back({.tid = 1000 + n, .name = "peer"});
  const System system(catalog_, {});
  int64_t last = 0, first = 0;
  for (const PcfValue &value : pcf_type(system, defs_.at("tid"), TraceKind::thread).values) {
    if (value.color)
      last = value.value;
    else if (value.value && !first)
      first = value.value;
  }
  EXPECT_EQ(last, 1000 + 4096 - 4 - 1);
  EXPECT_EQ(first, 1000 + 4096 - 4) << "and no further one";
}

TEST_F(LabelsOfHosts, ProcessesHaveTheirMainThreadsName) {
  EXPECT_EQ(names("pid"),
            (Names{{0, names("pid").at(0)}, {10, "main (10) | far (10)"}, {20, "other (20)"}}));
  const Names numbers = names("process");
  EXPECT_EQ(numbers.size(), 4u);
  EXPECT_EQ(numbers.at(1), "main (10)");
  EXPECT_EQ(numbers.at(2), "other (20)");
  EXPECT_EQ(numbers.at(3), "far (10)");
}

TEST_F(LabelsOfHosts, ThreadsHaveARowAndProcessesATask) {
  const System system(catalog_, {});
  const Layout layout = thread_layout(system, {});
  EXPECT_EQ(layout.row_of, (std::vector<uint32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(layout.names.tasks, (Texts{"main (10)", "other (20)", "far (10)"}));
  EXPECT_EQ(layout.names.threads.size(), 5u);
  EXPECT_EQ(layout.names.nodes, (Texts{"one", "two", "three"}));
  EXPECT_EQ(layout.names.cpus.size(), 4u);
  EXPECT_EQ(layout.names.cpus.back(), "three no CPU") << "Paraver knows no node without CPUs";
  EXPECT_EQ(layout.cpu_number, (std::vector<uint32_t>{2, 1, 3}));
  EXPECT_EQ(layout.header.cpus_per_node, (std::vector<uint32_t>{1, 2, 1}));
  EXPECT_EQ(layout.header.date, 1234);
  ASSERT_EQ(layout.header.tasks.size(), 3u);
  EXPECT_EQ(layout.header.tasks[0].thread_nodes, (std::vector<uint32_t>{1, 1}));
  EXPECT_EQ(layout.header.tasks[2].thread_nodes, (std::vector<uint32_t>{2, 2}));
  EXPECT_EQ(layout.rows[1].task, 1u);
  EXPECT_EQ(layout.rows[1].thread, 2u);
  EXPECT_EQ(layout.rows[4].task, 3u);
  EXPECT_EQ(layout.rows[4].thread, 2u);
}

TEST_F(LabelsOfHosts, ACutLeavesOutRowsButNotTheNameOfTheirProcess) {
  const System system(catalog_, {});
  Cut cut;
  cut.tids = {11, 12};
  const Layout layout = thread_layout(system, cut);
  EXPECT_EQ(layout.row_of, (std::vector<uint32_t>{kNone, 0, kNone, kNone, 1}));
  EXPECT_EQ(layout.names.tasks, (Texts{"main (10)", "far (10)"}));
  EXPECT_EQ(layout.rows[1].task, 2u);
  EXPECT_EQ(layout.rows[1].thread, 1u);
}

TEST_F(LabelsOfHosts, AMarkHasTheTextsOfAllHosts) {
  catalog_.hosts[0].marks = {{7, "start"}, {9, "load"}};
  catalog_.hosts[2].marks = {{5, "start"}, {6, "stop"}, {7, "more"}};
  EXPECT_EQ(names("ctl mark"),
            (Names{{0, "No mark"}, {1, "start"}, {2, "load | stop"}, {3, "more"}}));
}

TEST_F(LabelsOfHosts, CpusHaveARowEach) {
  const System system(catalog_, {});
  const Layout layout = cpu_layout(system, {});
  EXPECT_EQ(layout.row_of, (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(layout.cpu_number, (std::vector<uint32_t>{0, 0, 0}));
  EXPECT_EQ(layout.header.date, 1234);
  ASSERT_EQ(layout.header.tasks.size(), 1u);
  EXPECT_EQ(layout.header.tasks[0].thread_nodes, (std::vector<uint32_t>{1, 1, 1}));
  EXPECT_EQ(layout.rows[2].task, 1u);
  EXPECT_EQ(layout.rows[2].thread, 3u);
  EXPECT_EQ(layout.names.threads.size(), 3u);
}

TEST_F(LabelsOfHosts, NothingToShowIsAnError) {
  const System system(catalog_, {});
  Cut cut;
  cut.cpus = {3};
  EXPECT_EQ(test::failure_from([&] { cpu_layout(system, cut); }),
            "no CPU of the trace is in the part: `ovnitrace info` lists the CPUs");
  cut.tids = {99};
  EXPECT_EQ(test::failure_from([&] { thread_layout(system, cut); }),
            "the trace has no threads: nothing was captured, or its files are missing");
  const Catalog none;
  EXPECT_EQ(test::failure_from([&] { cpu_layout(System(none, {}), {}); }),
            "the trace has no CPUs: nothing was captured, or its files are missing");
}

TEST_F(LabelsOfHosts, ACutOfCpusNumbersTheirRows) {
  const System system(catalog_, {});
  Cut cut;
  cut.cpus = {2, 5};
  const Layout layout = cpu_layout(system, cut);
  EXPECT_EQ(layout.row_of, (std::vector<uint32_t>{kNone, 0, 1}));
  EXPECT_EQ(layout.names.threads, (Texts{"one CPU 2", "two CPU 5"}));
  EXPECT_EQ(layout.rows[1].thread, 2u);
}

} // namespace
} // namespace ovnitrace
