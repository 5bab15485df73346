// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace export --to perfetto`: the packets that describe processes and their threads.
#include "tests/unit/support/perfetto_rig.h"

namespace ovnitrace {
namespace {

class PerfettoProcesses : public test::PerfettoRig {
protected:
  /// "100: process 11 [a -x] threads 11/11 a, 12/11 t" for each packet, in the order of the file.
  Texts trees(const Cut &cut = {}) {
    exported(cut);
    const std::string file = test::text_of(out / "trace.pftrace");
    Texts all;
    for (const test::Proto &packet : test::Proto(file).messages(1)) {
      if (!packet.has(2))
        continue;
      const test::Proto tree = packet.message(2);
      std::string text = std::to_string(packet.number(8)) + ":";
      for (const test::Proto &process : tree.messages(1))
        text +=
            fmt::format(" process {} [{}]", process.number(1), fmt::join(process.texts(3), " "));
      const char *before = " threads ";
      for (const test::Proto &thread : tree.messages(2))
        text += fmt::format("{}{}/{} {}", std::exchange(before, ", "), thread.number(1),
                            thread.number(3), thread.has(2) ? thread.text(2) : "-");
      all.push_back(text);
    }
    return all;
  }
};

TEST_F(PerfettoProcesses, AreDescribedAtTheStartWithTheirThreads) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 12, 11, "t");
  cpu.id(3, 22, 22, "b").id(4, 33, 30, "alone").id(5, 40, 40, "").dispatch(1).at(200).stop();
  EXPECT_EQ(trees(), (Texts{"100: process 11 [a] threads 11/11 a, 12/11 t",
                            "100: process 22 [b] threads 22/22 b", "100: threads 33/30 alone",
                            "100: threads 40/40 -"}));
  Cut cut;
  cut.tids = {12, 22};
  cut.from = 50;
  EXPECT_EQ(trees(cut),
            (Texts{"150: process 11 [a] threads 12/11 t", "150: process 22 [b] threads 22/22 b"}));
}

TEST_F(PerfettoProcesses, HaveTheWordsOfTheirCommandLineAfterTheirName) {
  trace.json(R"({"version": 1, "command_lines": [
    {"pid": 11, "since_ns": 1, "text": "/bin/app -x  last"}, {"pid": 22, "since_ns": 1, "text": "b"},
    {"pid": 33, "since_ns": 125, "text": "p -j4"}, {"pid": 44, "since_ns": 135, "text": "late 1"}]})");
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  cpu.at(120).id(3, 33, 33, "p", 120).parent(3, 11, 120).create(3, 33);
  cpu.at(125).record(FTrace_EXT_exec, 3, 33);
  cpu.at(130).id(4, 44, 44, "late", 130).at(140).epilogue(1, 44).dispatch(4).at(150).epilogue(4);
  EXPECT_EQ(trees(), (Texts{"100: process 11 [a -x  last] threads 11/11 a",
                            "100: process 22 [b] threads 22/22 b", "125: process 33 [p -j4]",
                            "130: process 44 [late 1] threads 44/44 late"}));
}

TEST_F(PerfettoProcesses, AreNotDescribedByTheExecOfAnotherThread) {
  trace.json(R"({"version": 1, "command_lines": [{"pid": 11, "since_ns": 1, "text": "a b"}]})");
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 12, 11, "t").dispatch(1);
  cpu.at(120).record(FTrace_EXT_exec, 2, 12).at(200).stop();
  EXPECT_EQ(trees(), Texts{"100: process 11 [a b] threads 11/11 a, 12/11 t"});
}

TEST_F(PerfettoProcesses, ThatAreBornWithTheRangeAreCreatedThere) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").dispatch(1);
  cpu.at(150).id(2, 22, 22, "b", 150).parent(2, 11, 150).create(2, 22).at(200).stop();
  Cut cut;
  cut.from = 50;
  EXPECT_EQ(trees(cut), Texts{"150: process 11 [a] threads 11/11 a"});
  EXPECT_EQ(exported(cut).created.size(), 1u);
  cut.from = 51;
  EXPECT_EQ(trees(cut),
            (Texts{"151: process 11 [a] threads 11/11 a", "151: process 22 [b] threads 22/22 b"}));
  EXPECT_TRUE(exported(cut).created.empty());
}

TEST_F(PerfettoProcesses, HaveTheNameOfAnUntracedMainThread) {
  trace.json(R"({"version": 1, "peers": [
    {"tid": 0, "pid": 0, "name": "idle", "since_ns": 1},
    {"tid": 10, "pid": 10, "name": "early", "since_ns": 1},
    {"tid": 10, "pid": 10, "name": "l\u0007ate", "since_ns": 150},
    {"tid": 21, "pid": 20, "name": "x\u0007y", "since_ns": 1}]})");
  trace.cpu(0).at(100).start().id(1, 11, 10, "t").dispatch(1).at(200).stop();
  EXPECT_EQ(trees(), (Texts{"100: process 10 [l?ate] threads 11/10 t", "100: threads 10/10 early",
                            "150: threads 10/10 l?ate", "100: threads 21/20 x?y"}));
  Cut cut;
  cut.to = 40;
  EXPECT_EQ(trees(cut).front(), "100: process 10 [early] threads 11/10 t")
      << "its name in the range";
}

TEST_F(PerfettoProcesses, ThatAreNotTracedHaveEachNameFromItsTimeOn) {
  trace.json(R"({"version": 1, "peers": [
    {"tid": 10, "pid": 10, "name": "past", "since_ns": 1},
    {"tid": 10, "pid": 10, "name": "first", "since_ns": 110},
    {"tid": 10, "pid": 9, "name": "second", "since_ns": 150},
    {"tid": 10, "pid": 8, "name": "last", "since_ns": 151},
    {"tid": 12, "pid": 12, "name": "traced?", "since_ns": 120}]})");
  trace.cpu(0).at(100).start().id(1, 12, 12, "t").dispatch(1).at(200).stop();
  Cut cut;
  cut.from = 10;
  cut.to = 50;
  EXPECT_EQ(trees(cut), (Texts{"110: process 12 [t] threads 12/12 t", "110: threads 10/10 first",
                               "150: threads 10/9 second"}));
}

TEST_F(PerfettoProcesses, HaveNoNameOfALaterProcessWithTheirPid) {
  trace.json(R"({"version": 1, "peers": [
    {"tid": 10, "pid": 10, "name": "first", "since_ns": 1},
    {"tid": 10, "pid": 10, "name": "renamed", "since_ns": 150},
    {"tid": 10, "pid": 10, "name": "later", "since_ns": 151}]})");
  trace.cpu(0).at(100).start().id(1, 11, 10, "t").dispatch(1).at(150).end(1, 11).at(200).stop();
  EXPECT_EQ(trees().front(), "100: process 10 [renamed] threads 11/10 t");
}

TEST_F(PerfettoProcesses, OfManyThreadsAreDescribedInSeveralPackets) {
  auto &cpu = trace.cpu(0).at(100).start();
  for (uint16_t n = 0; n < 2001; n++)
    cpu.id(uint16_t(n + 1), 5000 + n, 5000, "t");
  cpu.dispatch(1).at(200).stop();
  const Texts all = trees();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].find("100: process 5000 [t] threads 5000/5000 t, 5001/5000 t"), 0u);
  EXPECT_EQ(all[1].find("100: threads 6000/5000 t, 6001/5000 t"), 0u) << "its name is there once";
  EXPECT_EQ(all[2], "100: threads 7000/5000 t");
}

TEST_F(PerfettoProcesses, RenameThemselvesOnTheCpuOfTheirExec) {
  trace.cpu(0).at(100).start().id(1, 11, 11, "a");
  trace.cpu(1)
      .at(100)
      .start()
      .id(1, 11, 11, "a")
      .dispatch(1)
      .at(120)
      .record(FTrace_EXT_exec, 1, 11);
  trace.cpu(1).at(150).stop();
  EXPECT_EQ(exported().renamed, (std::map<int32_t, std::string>{{11, "a"}}));
  Cut cut;
  cut.from = 21;
  EXPECT_TRUE(exported(cut).renamed.empty()) << "it was before";
}

} // namespace
} // namespace ovnitrace
