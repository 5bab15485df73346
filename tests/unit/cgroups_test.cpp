// SPDX-License-Identifier: BSD-2-Clause
// The cgroups of threads: their names, their paths, and when a thread was in which.
#include "emulator/format/cgroup_names.h"
#include "emulator/input/thread_group.h"
#include "emulator/open/open_trace.h"
#include "emulator/summary/groups.h"
#include "emulator/summary/summarizer.h"
#include "emulator/why/group_waits.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/chunk_list.h"
#include "tests/unit/support/why_rig.h"
#include "user/chunk/chunk_writer.h"
#include "user/record/cgroup_paths.h"
#include "user/select/cgroup_tree.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>

namespace ovnitrace {
namespace {

const std::string kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string kUid = "01234567-89ab-cdef-0123-456789abcdef";

TEST(CgroupNames, SayUnitContainerAndPod) {
  struct Case {
    std::string path, unit, container, pod, group;
  };
  const Case cases[] = {
      {"/", "", "", "", "/"},
      {"/system.slice/nginx.service", "nginx.service", "", "", "nginx.service"},
      {"/system.slice/nginx.service/worker", "nginx.service", "", "", "nginx.service"},
      {"/user.slice/user-1000.slice", "user-1000.slice", "", "", "user-1000.slice"},
      {"/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope", "app-x.scope", "", "",
       "app-x.scope"},
      {"/system.slice/docker-" + kId + ".scope", "docker-" + kId + ".scope", "docker 0123456789ab",
       "", "docker 0123456789ab"},
      {"/docker/" + kId, "", "container 0123456789ab", "", "container 0123456789ab"},
      {"/machine.slice/libpod-" + kId + ".scope/container", "libpod-" + kId + ".scope",
       "podman 0123456789ab", "", "podman 0123456789ab"},
      {"/machine.slice/machine-web.scope/payload/system.slice/x.service", "x.service", "web", "",
       "web"},
      {"/machine.slice/systemd-nspawn@web.service", "systemd-nspawn@web.service", "web", "", "web"},
      {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod"
       "01234567_89ab_cdef_0123_456789abcdef.slice/cri-containerd-" +
           kId + ".scope",
       "cri-containerd-" + kId + ".scope", "containerd 0123456789ab", kUid,
       "containerd 0123456789ab"},
      {"/kubepods/besteffort/pod" + kUid + "/" + kId, "", "container 0123456789ab", kUid,
       "container 0123456789ab"},
      {"/x/crio-conmon-" + kId + ".scope", "crio-conmon-" + kId + ".scope", "", "",
       "crio-conmon-" + kId + ".scope"},
      {"/podium/.service/0123", "", "", "", "/podium/.service/0123"},
  };
  for (const Case &one : cases) {
    SCOPED_TRACE(one.path);
    const Cgroup cgroup = describe_cgroup(one.path);
    EXPECT_EQ(cgroup.path, one.path);
    EXPECT_EQ(cgroup.unit, one.unit);
    EXPECT_EQ(cgroup.container, one.container);
    EXPECT_EQ(cgroup.pod, one.pod);
    EXPECT_EQ(cgroup.group(), one.group);
  }
}

TEST(CgroupNames, AContainerHasTheNameOfItsManager) {
  const auto container = [](const std::string &path) { return describe_cgroup(path).container; };
  EXPECT_EQ(container("/x/nerdctl-" + kId + ".scope"), "nerdctl 0123456789ab");
  EXPECT_EQ(container("/x/crio-" + kId + ".scope"), "cri-o 0123456789ab");
  EXPECT_EQ(container("/" + kId + ".scope"), "container 0123456789ab");
  EXPECT_EQ(container("/docker-" + kId + "/libpod-" + kId), "docker 0123456789ab")
      << "the outer one";
  EXPECT_EQ(container("/docker-" + kId + "0"), "");
  EXPECT_EQ(container("/docker-" + kId.substr(1)), "");
  EXPECT_EQ(container("/docker-" + kId.substr(1) + "A"), "");
  EXPECT_EQ(container("/machine-.scope/systemd-nspawn@.service"), "");
  EXPECT_EQ(container("/machine-x.service/systemd-nspawn@x.scope"), "");
}

TEST(CgroupNames, AUnitIsTheInnermostThatIsNoSlice) {
  const auto unit = [](const std::string &path) { return describe_cgroup(path).unit; };
  EXPECT_EQ(unit("/a.slice/b.slice"), "b.slice");
  EXPECT_EQ(unit("/a.service/b.slice"), "a.service");
  EXPECT_EQ(unit("/a.service/b.scope"), "b.scope");
  EXPECT_EQ(unit("/a.slice/b.socket"), "b.socket");
  EXPECT_EQ(unit("/a.slice/b.mount"), "b.mount");
  EXPECT_EQ(unit("/a.slice/b.swap"), "b.swap");
  EXPECT_EQ(unit("/a.timer"), "");
}

TEST(CgroupNames, APodHasAUidOf36Characters) {
  const auto pod = [](const std::string &path) { return describe_cgroup(path).pod; };
  EXPECT_EQ(pod("/kubepods-pod" + kUid + ".slice"), kUid);
  EXPECT_EQ(pod("/pod" + kUid + "/pod" + std::string(36, 'a')), kUid) << "the outer one";
  EXPECT_EQ(pod("/pod" + kUid + "0"), "");
  EXPECT_EQ(pod("/pod" + kUid.substr(1)), "");
  EXPECT_EQ(pod("/pod" + kUid.substr(1) + "g"), "");
  EXPECT_EQ(pod("/kubepods-" + kUid), "");
}

TEST(CgroupPaths, AreReadFromTheLastPartToTheFirst) {
  CgroupPaths paths;
  cgroup_record record = {};
  const auto send = [&](uint64_t key, const std::string &parts, bool cut) {
    record = {};
    record.key = key;
    record.cut = cut;
    record.bytes = uint32_t(parts.copy(record.text, sizeof record.text));
    paths.take(&record, sizeof record);
  };
  EXPECT_EQ(paths.number(0), 0);
  EXPECT_EQ(paths.number(900), 1);
  EXPECT_EQ(paths.number(CAPTURE_KERNEL_CGROUP), 2);
  send(900, std::string("b\x1b.service\0a.slice\0", 20), false);
  send(700, "", false);
  send(500, std::string("leaf\0", 5), true);
  paths.take(&record, sizeof record - 1);
  EXPECT_EQ(paths.number(900), 1);
  EXPECT_EQ(paths.paths(),
            (std::vector<std::string>{"/a.slice/b?.service", "kernel", "/", "…/leaf"}));
  record.bytes = UINT32_MAX; // a length that cannot be is no reason to read on
  paths.take(&record, sizeof record);
}

TEST(CgroupPaths, AreBounded) {
  CgroupPaths paths;
  for (uint64_t key = 1; key <= CgroupPaths::kMost; key++)
    ASSERT_EQ(paths.number(key << CAPTURE_CGROUP_KEY_SHIFT), key);
  EXPECT_EQ(paths.number(~0ull), 0);
  cgroup_record record = {};
  record.key = ~0ull;
  record.bytes = 1;
  record.text[0] = 'x';
  paths.take(&record, sizeof record); // there is no room for its path
  EXPECT_EQ(paths.paths().size(), CgroupPaths::kMost);
  EXPECT_EQ(paths.paths().front(), "");
  record.key = 2ull << CAPTURE_CGROUP_KEY_SHIFT;
  paths.take(&record, sizeof record);
  EXPECT_EQ(paths.paths()[1], "/x") << "those that have a number are still read";
}

TEST(OldHierarchy, IsSystemdsOrElseThatOfTheCpu) {
  test::TempDir dir;
  const std::string file = dir.path() + "/cgroup";
  const auto with = [&](const char *text) {
    std::ofstream(file) << text;
    return old_hierarchy(file);
  };
  EXPECT_EQ(with("9:name=systemd:/\n4:memory:/x\n2:cpu,cpuacct:/\n0::/\n"), 9);
  EXPECT_EQ(with("4:memory:/x\n2:cpu,cpuacct:/\n"), 2);
  EXPECT_EQ(with("0::/\n"), 0);
}

/// Random births and moves of threads, whose records are read in pieces, against a list of who was
/// where.
TEST(CgroupHistory, SaysWhereEachThreadWasAtEachTime) {
  for (unsigned seed = 0; seed < test::cases(100); seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::map<uint64_t, uint32_t> model; // by time
    std::vector<SinceCgroup> known;
    uint64_t time = seed % 2 ? 5 : 0;
    for (unsigned n = random() % 20 + 1; n; n--, time += 1 + random() % 3) {
      model[time] = random() % 4;
      known.push_back({time, model[time]});
    }
    std::vector<SinceCgroup> said = known; // each several times, in any order
    said.insert(said.end(), known.begin(), known.end());
    std::shuffle(said.begin(), said.end(), random);
    CgroupHistory one, other;
    for (const SinceCgroup &known_one : said)
      (random() % 2 ? one : other).add(known_one);
    one.join(other);
    ThreadInfo thread;
    EXPECT_EQ(thread.cgroup_at(3), kNone);
    thread.cgroups = one.changes();
    for (uint64_t at = 0; at < time + 2; at++) {
      const auto after = model.upper_bound(at);
      EXPECT_EQ(thread.cgroup_at(at),
                after == model.begin() ? after->second : std::prev(after)->second)
          << at;
    }
  }
}

life_record life(uint64_t time, uint32_t kind, uint32_t tid, uint64_t cgroup) {
  life_record record = {};
  record.time = time;
  record.kind = uint16_t(kind);
  record.tid = record.pid = tid;
  record.cgroup = cgroup;
  record.comm[0] = 'x';
  return record;
}

/// The recorder reads many life events before it writes the first one.
TEST(ChunkWriter, ACgroupBeforeAMoveIsWrittenThoughTheMoveIsKnown) {
  ThreadRegistry registry;
  test::ChunkList list(256);
  ChunkWriter writer(0, 100, registry, list);
  const life_record records[] = {life(200, LIFE_NEW, 11, 1), life(300, LIFE_CGROUP, 11, 2),
                                 life(400, LIFE_RENAME, 11, 0)};
  for (const life_record &record : records)
    registry.learn(record);
  for (const life_record &record : records)
    writer.life(record);
  writer.finish(600);
  CgroupHistory history;
  std::vector<uint64_t> moves;
  for (const ftrace_record &record : list.chunks.at(0).records) {
    if (record.code == FTrace_EXT_cgroup)
      history.add({ftrace_record_tsc(&record), record.par2});
    if (record.code == FTrace_EXT_cgroup_move)
      moves.push_back(ftrace_record_tsc(&record));
  }
  EXPECT_EQ(history.changes(), (std::vector<SinceCgroup>{{200, 1}, {300, 2}}));
  EXPECT_EQ(moves, std::vector<uint64_t>{300});
}

using test::kMs;

class CgroupsOfThreads : public test::WhyRig {
protected:
  CgroupsOfThreads() {
    trace.json(R"({"version": 1, "machine": "x86_64", "all_threads": true,
                   "cgroups": ["/system.slice/a.service", "/b", "kernel", 7, "/system.slice/a.service/x"],
                   "peers": [{"tid": 40, "pid": 40, "name": "peer", "cgroup": 2},
                             {"tid": 41, "pid": 41, "name": "odd", "cgroup": 99999999}]})");
  }
  static test::ChunkBuilder &thread(test::ChunkBuilder &cpu, uint16_t context, uint32_t tid,
                                    uint32_t cgroup, uint64_t since = 0) {
    return cpu.id(context, tid, tid, "t" + std::to_string(tid))
        .record_at(since, FTrace_EXT_cgroup, context, cgroup);
  }
};

TEST_F(CgroupsOfThreads, ATraceSaysThemAndItsMoves) {
  test::ChunkBuilder &cpu = trace.cpu(0).at(0).start();
  thread(cpu, 1, 11, 1);
  cpu.at(10).dispatch(1);
  cpu.at(20).record_at(20, FTrace_EXT_cgroup, 1, 2).record(FTrace_EXT_cgroup_move, 1, 2);
  thread(cpu, 2, 12, 900);
  cpu.at(30).epilogue(1, 12).dispatch(2).at(40).stop();
  explain_all();
  const Catalog &catalog = source->catalog();
  EXPECT_TRUE(sink.reported.empty()) << sink.reported.front().what;
  EXPECT_EQ(group_of(catalog, catalog.threads[0], 19), "a.service");
  EXPECT_EQ(group_of(catalog, catalog.threads[0], 20), "/b");
  EXPECT_EQ(group_of(catalog, catalog.threads[1], 20), "cgroup 900");
  EXPECT_EQ(group_of(catalog.hosts[0], catalog.hosts[0].peers[0]), "/b");
  EXPECT_EQ(group_of(catalog.hosts[0], catalog.hosts[0].peers[1]), "");
}

TEST_F(CgroupsOfThreads, NumbersGoTo65536) {
  test::ChunkBuilder &cpu = trace.cpu(0).at(0).start();
  thread(cpu, 1, 11, 65536);
  thread(cpu, 2, 12, 65537);
  cpu.at(10).dispatch(1).at(40).stop();
  explain_all();
  const Catalog &catalog = source->catalog();
  EXPECT_EQ(group_of(catalog, catalog.threads[0], 20), "cgroup 65536");
  EXPECT_EQ(group_of(catalog, catalog.threads[1], 20), "");
}

TEST_F(CgroupsOfThreads, ASummaryCountsTheThreadsOfEachGroup) {
  test::ChunkBuilder &cpu = trace.cpu(0).at(0).start();
  thread(cpu, 1, 11, 1);
  thread(cpu, 2, 12, 5); // the same unit
  thread(cpu, 3, 13, 2);
  cpu.at(10).dispatch(1).at(40).epilogue(1, 13).dispatch(3).at(60).epilogue(3, 12).dispatch(2);
  cpu.at(70).stop();
  explain_all();
  std::vector<std::pair<std::string, size_t>> groups;
  for (const ThreadGroup &group : by_cgroup(source->catalog(), summarize(*source), "running"))
    groups.emplace_back(group.name, group.threads);
  EXPECT_EQ(groups, (std::vector<std::pair<std::string, size_t>>{{"a.service", 2}, {"/b", 1}}));
}

TEST_F(CgroupsOfThreads, WaitsAreDividedByWhoHadTheCpu) {
  test::ChunkBuilder &cpu = trace.cpu(0).at(0).start();
  thread(cpu, 1, 11, 1);
  thread(cpu, 2, 12, 5); // the same unit
  thread(cpu, 3, 13, 2);
  thread(cpu, 4, 14, 3);
  cpu.at(1).dispatch(1);
  cpu.at(1 * kMs).epilogue(1, 12).dispatch(2);
  cpu.at(2 * kMs).sleep(2, 13).dispatch(3); // 1 ms by its own group
  cpu.at(5 * kMs).sleep(3, 14).dispatch(4); // 3 ms by another
  cpu.at(10 * kMs).sleep(4, 40);            // 5 ms by the kernel
  cpu.at(17 * kMs).dispatch(1);             // 7 ms by an untraced thread of another group
  cpu.at(18 * kMs).epilogue(1, 0, FTRACE_OFFCPU_THROTTLED);
  cpu.at(29 * kMs).dispatch(1).at(30 * kMs).stop();
  explain_all();
  const std::vector<GroupWaits> groups = group_waits(source->catalog(), why);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].group, "a.service");
  EXPECT_EQ(groups[0].threads, 2u);
  EXPECT_EQ(groups[0].same_group, 1 * kMs);
  EXPECT_EQ(groups[0].other_groups, 10 * kMs);
  EXPECT_EQ(groups[0].system, 5 * kMs);
  EXPECT_EQ(groups[0].throttled, 11 * kMs);
  EXPECT_EQ(groups[0].rest, 0u);
  EXPECT_EQ(groups[0].time.waiting, 27 * kMs);
  const nlohmann::json json = report();
  EXPECT_EQ(json["cgroups"][0]["other_groups_ns"], 10 * kMs);
  EXPECT_EQ(json["cgroups"][0]["behind"].size(), 1u);
  EXPECT_EQ(json["cgroups"][0]["behind"][0]["group"], "/b");
  EXPECT_EQ(json["cgroups"][0]["behind"][0]["ns"], 10 * kMs);
  EXPECT_EQ(WhyRig::thread(json, 12)["cgroup"], "/system.slice/a.service/x");
  WhyOptions options;
  options.by = WhyBy::cgroup;
  const std::string text = why_text(input(), options);
  EXPECT_NE(text.find("a.service"), text.npos) << text;
  EXPECT_NE(text.find("GROUP   GROUPS"), text.npos) << text;
  EXPECT_NE(text.find("\na.service /b "), text.npos) << text;
  const size_t head = text.find("CGROUP  ");
  ASSERT_NE(head, text.npos) << text;
  EXPECT_LE(text.find('\n', head) - head, 100u) << text;
  options.columns = 80;
  const std::string narrow = group_table(input(), options);
  for (size_t at = 0; at < narrow.size(); at = narrow.find('\n', at) + 1)
    EXPECT_LE(narrow.find('\n', at) - at, 80u) << narrow;
  EXPECT_EQ(narrow, "CGROUP     THREADS   RUNNING   BLOCKED   WAITING\n"
                    "a.service        2  4.000 ms  28.00 ms  27.00 ms\n"
                    "/b               1  3.000 ms  25.00 ms         0\n"
                    "kernel           1  5.000 ms  20.00 ms         0\n"
                    "\n           LONGEST                 SAME     OTHER\n"
                    "CGROUP     BEHIND   THROTTLED     GROUP    GROUPS    SYSTEM  REST\n"
                    "a.service  /b        11.00 ms  1.000 ms  10.00 ms  5.000 ms     0\n"
                    "/b         -                0         0         0         0     0\n"
                    "kernel     -                0         0         0         0     0\n");
  options.top = 1;
  options.columns = 100;
  EXPECT_EQ(group_table(input(), options),
            "          LONGEST                                                  SAME    OTHER\n"
            "CGROUP    BEHIND  THREADS  RUNNING  BLOCKED  WAITING THROTTLED    GROUP   GROUPS   "
            "SYSTEM REST\n"
            "a.service /b            2 4.000 ms 28.00 ms 27.00 ms  11.00 ms 1.000 ms 10.00 ms "
            "5.000 ms    0\n");
}

} // namespace
} // namespace ovnitrace
