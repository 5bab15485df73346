// SPDX-License-Identifier: BSD-2-Clause
// Chains as users of such controllers write them. Each is compared with the program's own log. The
// chains of other test files are not repeated here.
#include "tests/e2e/support/regions.h"

#include <string>
#include <vector>

namespace ovnitrace::test {

namespace {

/// A mark of the program; "" if there is no mark to compare with.
struct At {
  const char *name = "";
  size_t n = 0; ///< the n-th time that it was there, from 0
};

struct Span {
  At after, before; ///< the region starts between these marks
  At held, freed;   ///< and stops between these; both empty: it is not stopped
};

struct Example {
  std::vector<std::string> chains, steps;
  std::vector<Span> regions;
};

// clang-format off
const Example kExamples[] = {
    {{"start:address:foo,stop:addres:bar"}, {"boo", "foo", "wait=2", "bar", "boo"},
     {{{"boo"}, {"foo"}, {"wait"}, {"bar"}}}},
    {{"start:address:foo,bcast,stop:addres:bar,bcast"}, {"boo", "threads=2:foo", "wait=2", "threads=2:bar", "boo"},
     {{{"boo"}, {"foo"}, {"wait"}, {"bar"}}}},
    {{"stop:address:foo:count3"}, {"foo", "foo", "wait=2", "foo", "boo"},
     {{{""}, {"foo"}, {"wait"}, {"foo", 2}}}},
    {{"precond:address:bar,start:address:foo,stop:icount:1000"}, {"foo", "bar", "foo", "boo"},
     {{{"bar"}, {"foo", 1}, {"bar"}, {"boo"}}}},
    {{"precond:ssc:11223344,start:address:foo,stop:addres:bar"}, {"foo", "ssc", "bar", "foo", "wait=2", "bar"},
     {{{"bar"}, {"foo", 1}, {"wait"}, {"bar", 1}}}},
    {{"start:icount:100,stop:address:foo:count3,repeat:2"}, {"foo", "foo", "foo", "boo", "foo", "foo", "wait=2", "foo", "boo"},
     {{{""}, {"foo"}, {"foo", 1}, {"foo", 2}}, {{"foo", 1}, {"boo"}, {"wait"}, {"foo", 5}}}},
    {{"start:icount:100:tid2,stop:address:bar"}, {"foo", "threads=1:foo", "boo", "threads=1:bar", "bar"},
     {{{"boo"}, {"bar"}, {"boo"}, {"bar"}}}},
    {{"start:enter_func:inner,stop:exit_func:outer"}, {"nested", "wait=2"},
     {{{"outer"}, {"inner"}, {"outer_leave", 1}, {"wait"}}}},
};
// clang-format on

} // namespace

class ControlExamples : public RegionTest {
protected:
  void expect_between(uint64_t time, const At &after, const At &before) const {
    if (*after.name) {
      EXPECT_GT(time, mark(after.name, after.n)) << after.name;
    }
    if (*before.name) {
      EXPECT_LT(time, mark(before.name, before.n)) << before.name;
    }
  }
};

TEST_F(ControlExamples, StartAndStopWhereTheProgramSays) {
  for (const Example &example : kExamples) {
    SCOPED_TRACE(example.chains[0]);
    if (!are_possible(example.chains))
      continue;
    remove_trace();
    capture(example.chains, example.steps);
    const std::vector<Region> all = regions();
    EXPECT_EQ(all.size(), example.regions.size());
    for (size_t n = 0; n < std::min(all.size(), example.regions.size()); n++) {
      const Span &span = example.regions[n];
      expect_between(all[n].start, span.after, span.before);
      expect_between(all[n].stop, span.held, span.freed);
    }
    expect_events_in_regions();
  }
}

/// Three starts and no stop. The second and the third start nothing, because the region is open,
/// but they are in the trace.
TEST_F(ControlExamples, AnAlarmAloneIsRepeated) {
  if (skip_if_impossible({"start:icount:100"}))
    return;
  capture({"start:icount:100,repeat:3", "threadid:icount:100,repeat:3"}, {"foo"});
  EXPECT_EQ(regions().size(), 1u);
  EXPECT_EQ(alarms(), (std::vector<std::string>{"icount/1/1", "icount/2/1", "icount/1/1",
                                                "icount/2/1", "icount/1/1", "icount/2/1"}));
}

} // namespace ovnitrace::test
