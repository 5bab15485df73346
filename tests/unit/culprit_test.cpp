// SPDX-License-Identifier: BSD-2-Clause
// Who made a thread wait or woke it: emulator/why/culprit.
#include "emulator/why/culprit.h"

#include <gtest/gtest.h>
#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {
namespace {

using Kind = Culprit::Kind;

TEST(CulpritOf, APeerIsAThreadTheIdleTaskOrNotKnown) {
  EXPECT_EQ(Culprit::of({.tid = 7, .thread = 3}), Culprit(Kind::thread, 3));
  EXPECT_EQ(Culprit::of({.tid = 7, .thread = kNone}), Culprit(Kind::untraced, 7));
  EXPECT_EQ(Culprit::of({.tid = 0, .thread = kNone}), Culprit(Kind::idle));
  EXPECT_EQ(Culprit::of({.tid = kNone, .thread = kNone}), Culprit(Kind::not_known));
  EXPECT_EQ(Culprit::of({.tid = 0, .thread = 0}), Culprit(Kind::thread, 0));
}

TEST(CulpritOf, ADeviceHasItsNumberIfItFits) {
  const Culprit sda = Culprit::of_device(8 << FTRACE_DEVICE_MAJOR_SHIFT | 3);
  EXPECT_EQ(sda.kind(), Kind::device);
  EXPECT_EQ(sda.device_number(), 8u << FTRACE_DEVICE_MAJOR_SHIFT | 3);
  const uint32_t last = 0xfffu << FTRACE_DEVICE_MAJOR_SHIFT | 0xffff;
  EXPECT_EQ(Culprit::of_device(last).device_number(), last);
  const Culprit any(Kind::interrupt, uint32_t(InterruptSource::device));
  EXPECT_EQ(Culprit::of_device(0), any);
  EXPECT_EQ(Culprit::of_device(8 << FTRACE_DEVICE_MAJOR_SHIFT | 0x10000), any);
}

TEST(CulpritOf, IsKnownUnlessTheTraceDoesNotSayWho) {
  for (const Kind kind : {Kind::thread, Kind::untraced, Kind::idle, Kind::interrupt, Kind::device,
                          Kind::nobody, Kind::others})
    EXPECT_TRUE(Culprit(kind).is_known()) << int(kind);
  EXPECT_FALSE(Culprit().is_known());
  EXPECT_FALSE(Culprit(Kind::unseen).is_known());
  EXPECT_TRUE(Culprit(Kind::thread, 3).is_thread(3));
  EXPECT_FALSE(Culprit(Kind::thread, 3).is_thread(2));
  EXPECT_FALSE(Culprit(Kind::untraced, 3).is_thread(3));
}

TEST(CulpritOf, AThreadHasTheNameOfTheTime) {
  Catalog catalog;
  catalog.threads.resize(2);
  catalog.threads[1].tid = 41;
  catalog.threads[1].name = "sleep";
  catalog.threads[1].earlier_names = {{.until = 100, .name = "sh"}, {.until = 200, .name = "a"}};
  const Culprit thread(Kind::thread, 1);
  const auto name = [&](uint64_t time) {
    const Culprit named = thread.named_at(catalog, 0, time);
    EXPECT_EQ(Culprit::from_code(named.code()), named);
    EXPECT_EQ(Culprit::from_code(named.code()).number(), 1u);
    return name_of(catalog, named, 0);
  };
  EXPECT_EQ(name(99), "sh");
  EXPECT_EQ(name(100), "a");
  EXPECT_EQ(name(200), "sleep");
  EXPECT_EQ(name_of(catalog, thread, 0), "sleep");
  EXPECT_NE(thread.named_at(catalog, 0, 99), thread);
  EXPECT_EQ(thread.named_at(catalog, 0, 99).name(), 1u);
}

TEST(CulpritOf, AnUntracedThreadHasTheNameOfTheTime) {
  Catalog catalog;
  catalog.hosts.resize(2);
  catalog.end = 400;
  catalog.hosts[1].peers = {{.tid = 6, .pid = 6, .since_ns = 100, .name = "other"},
                            {.tid = 7, .pid = 7, .since_ns = 100, .name = "sh"},
                            {.tid = 7, .pid = 7, .since_ns = 200, .name = "app", .cgroup = 3},
                            {.tid = 7, .pid = 7, .since_ns = 300, .name = "sh", .again = 2}};
  const Culprit peer(Kind::untraced, 7);
  const auto name = [&](uint64_t time) {
    const Culprit named = peer.named_at(catalog, 1, time);
    EXPECT_EQ(Culprit::from_code(named.code()), named);
    EXPECT_EQ(named.number(), 7u);
    return name_of(catalog, named, 1);
  };
  EXPECT_EQ(name(99), "sh");
  EXPECT_EQ(name(199), "sh");
  EXPECT_EQ(name(200), "app");
  EXPECT_EQ(name(299), "app");
  EXPECT_EQ(name(300), "sh");
  EXPECT_EQ(peer.named_at(catalog, 1, 100), peer.named_at(catalog, 1, 300)) << "one key";
  EXPECT_NE(peer.named_at(catalog, 1, 100), peer.named_at(catalog, 1, 200));
  EXPECT_EQ(peer_of(catalog, peer.named_at(catalog, 1, 250), 1)->cgroup, 3u);
  EXPECT_EQ(peer.named_at(catalog, 0, 100), peer) << "there is no such thread on that host";
  EXPECT_EQ(Culprit(Kind::untraced, 8).named_at(catalog, 1, 100), Culprit(Kind::untraced, 8));
  EXPECT_EQ(Culprit(Kind::idle).named_at(catalog, 1, 100), Culprit(Kind::idle));
}

TEST(CulpritOf, NamesAreThoseOfTheHostAtTheEndOfTheTrace) {
  Catalog catalog;
  catalog.hosts.resize(2);
  catalog.end = 9000;
  const uint32_t disk = 8 << FTRACE_DEVICE_MAJOR_SHIFT | 1;
  catalog.hosts[0].devices = {{.number = disk, .name = "sda"}};
  catalog.hosts[1].devices = {{.number = disk, .name = "vdb"}};
  catalog.hosts[1].peers = {{.tid = 7, .pid = 7, .since_ns = 1, .name = "sh"},
                            {.tid = 7, .pid = 7, .since_ns = 9000, .name = "app"},
                            {.tid = 7, .pid = 7, .since_ns = 9001, .name = "later"}};
  EXPECT_EQ(name_of(catalog, Culprit(Kind::untraced, 7), 0), "");
  EXPECT_EQ(name_of(catalog, Culprit(Kind::untraced, 7), 1), "app");
  EXPECT_EQ(name_of(catalog, Culprit::of_device(disk), 0), "sda");
  EXPECT_EQ(name_of(catalog, Culprit::of_device(disk), 1), "vdb");
  EXPECT_EQ(name_of(catalog, Culprit::of_device(disk + 1), 1), "8:2");
  EXPECT_EQ(tid_of(catalog, Culprit::of_device(disk)), kNone);
}

} // namespace
} // namespace ovnitrace
