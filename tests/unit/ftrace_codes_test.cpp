// SPDX-License-Identifier: BSD-2-Clause
// What libovnitrace logs: every code of the manual, their times, and which of them filters keep
// out.
#include "tests/unit/support/ftrace_rig.h"
#include "tests/unit/support/manual_codes.h"

using namespace ovnitrace::test;

namespace {

constexpr int JTN = FTRACE_CHUNK_FLAG_JTN;

class FtraceCodes : public FtraceRig {};

using Saids = std::vector<Said>;

TEST_F(FtraceCodes, EmptyIsNoEvent) {
  int chunk = start(2, JTN);
  TRACER_LOGEVENT(FTrace_EVT_empty, 1, 2);
  FTrace_disable();
  EXPECT_EQ(status(chunk).events, 0u);
}

TEST_F(FtraceCodes, FastIpointsHaveBit15) {
  int chunk = start(2, JTN);
  FAST_TRACER_LOGEVENT(FTrace_EVT_ipoint, 1000, 0);
  FTrace_disable();
  EXPECT_EQ(said_in(chunk), (Saids{{0x8001, 1000, 0}}));
}

TEST_F(FtraceCodes, TheRecordsTimeIsMonotonicNanoseconds) {
  EXPECT_EQ(FTrace_clk_per_msec(), 1000000u);
  int chunk = start(100, JTN);
  timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  for (unsigned i = 0; i < 100; i++)
    log(i);
  clock_gettime(CLOCK_MONOTONIC, &after);
  FTrace_disable();
  auto ns = [](const timespec &t) { return uint64_t(t.tv_sec) * 1000000000 + uint64_t(t.tv_nsec); };
  uint64_t time = ns(before);
  for (const ftrace_record &record : records_of(chunk)) {
    EXPECT_LE(time, ftrace_record_tsc(&record));
    time = ftrace_record_tsc(&record);
  }
  EXPECT_LE(time, ns(after));
}

struct Filter {
  unsigned code;
  const char *name;
  unsigned event; ///< one of its family
};

constexpr Filter kFilters[] = {
#define FILTER(name, code, event) {name, #name, event},
    FILTER(FTrace_filter_trace_Events, 0xF0, FTrace_EVT_id)
        FILTER(FTrace_filter_ipoint, 0xF1, FTrace_EVT_ipoint) FILTER(FTrace_filter_task, 0xF2,
                                                                     FTrace_EVT_task_wcet_violation)
            FILTER(FTrace_filter_interrupt, 0xF3, FTrace_EVT_interrupt_hit)
                FILTER(FTrace_filter_CPU, 0xF4, FTrace_EVT_CLI) FILTER(FTrace_filter_priority, 0xF5,
                                                                       FTrace_EVT_inheritance)
                    FILTER(FTrace_filter_mutex, 0xF6, FTrace_EVT_set_mutex_unlock)
                        FILTER(FTrace_filter_signal, 0xF7, FTrace_EVT_signal)
                            FILTER(FTrace_filter_server, 0xF8, FTrace_EVT_server_exhaust)
                                FILTER(FTrace_filter_user, 0xF9, FTrace_EVT_user_event_14)
                                    FILTER(FTrace_filter_data, 0xFA, FTrace_EVT_data_pointer)
                                        FILTER(FTrace_filter_timer, 0xFB, FTrace_EVT_timer_delete)
#undef FILTER
};

TEST_F(FtraceCodes, EachFilterKeepsItsFamilyOutAndNoOther) {
  unsigned expected = 0xF0;
  for (const Filter &filter : kFilters) {
    EXPECT_EQ(filter.code, expected++) << filter.name;
    EXPECT_EQ(filter.event & FTrace_family_mask, filter.code & FTrace_family_mask) << filter.name;
    int chunk = start(64, JTN);
    Saids wanted{{filter.code, 1, 0}};
    FTrace_set_filter(FTrace_BYTE(filter.code), 1);
    for (const Filter &other : kFilters) {
      TRACER_LOGEVENT(FTrace_WORD(other.event), 3, 4);
      FAST_TRACER_LOGEVENT(other.event, 5, 6);
      if (&other != &filter) {
        wanted.push_back({other.event, 3, 4});
        wanted.push_back({other.event | 0x8000, 5, 6});
      }
    }
    // Filter codes and next_chunk are of no family.
    TRACER_LOGEVENT(FTrace_WORD(filter.code), 7, 8);
    TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
    FTrace_set_filter(FTrace_BYTE(filter.code), 0);
    TRACER_LOGEVENT(FTrace_WORD(filter.event), 9, 9);
    wanted.insert(wanted.end(), {{filter.code, 7, 8},
                                 {FTrace_EVT_next_chunk, 0, 0},
                                 {filter.code, 0, 0},
                                 {filter.event, 9, 9}});
    FTrace_disable();
    EXPECT_EQ(said_in(chunk), wanted) << filter.name;
    FTrace_chunk_delete(chunk);
  }
}

TEST_F(FtraceCodes, AFilterThatIsSetWhileTracingIsDisabledHolds) {
  int chunk = create(9, kFree);
  FTrace_set_filter(FTrace_filter_ipoint, 1); // before FTrace_enable
  FTrace_actual_chunk_select(chunk);
  FTrace_enable();
  TRACER_LOGEVENT(FTrace_EVT_ipoint, 1, 0);
  log(1);
  FTrace_disable();
  FTrace_set_filter(FTrace_filter_ipoint, 0); // after FTrace_disable
  FTrace_set_filter(FTrace_filter_user, 1);
  FTrace_enable();
  TRACER_LOGEVENT(FTrace_EVT_ipoint, 2, 0);
  log(2);
  FTrace_disable();
  EXPECT_EQ(said_in(chunk), (Saids{user(1), {FTrace_EVT_ipoint, 2, 0}}));
}

TEST_F(FtraceCodes, WrongFiltersAreReported) {
  int chunk = start(4, JTN);
  for (unsigned family : {0x00, 0x0B, 0x19, 0xEF, 0xFC, 0xFF}) {
    FTrace_set_filter(FTrace_BYTE(family), 1);
    EXPECT_EQ(FTrace_last_error(), FTRACE_E_FILTER) << family;
  }
  for (int status : {-1, 2}) {
    FTrace_set_filter(FTrace_filter_user, status);
    EXPECT_EQ(FTrace_last_error(), FTRACE_E_FILTER) << status;
  }
  log(1);
  FTrace_disable();
  EXPECT_EQ(said_in(chunk), Saids{user(1)});
}

TEST_F(FtraceCodes, EveryCodeOfTheManualByItsName) {
  EXPECT_EQ(FTrace_EVT_empty, 0x00);
  int chunk = start(100, JTN);
  Saids wanted;
  for (const ManualCode &code : kManualCodes) {
    EXPECT_EQ(code.value, code.manual) << code.name;
    TRACER_LOGEVENT(FTrace_WORD(code.value), FTrace_WORD(code.value + 0x1200), ~code.value);
    wanted.push_back({code.manual, code.manual + 0x1200, ~code.manual});
  }
  FTrace_disable();
  EXPECT_EQ(said_in(chunk), wanted);
}

TEST_F(FtraceCodes, FortranProgramsCanLog) {
  int chunk = create(4, kFree);
  FTrace_actual_chunk_select(chunk);
  EXPECT_EQ(ftrace_enable_(), 0);
  const int type = FTrace_EVT_user_event_3, par1 = 65535, par2 = -2;
  tracer_logevent_(&type, &par1, &par2);
  EXPECT_EQ(ftrace_disable_(), 0);
  EXPECT_EQ(said_in(chunk), (Saids{{0x39, 65535, 0xfffffffe}}));
}

} // namespace
