// SPDX-License-Identifier: BSD-2-Clause
// What a replay says of events that cannot be: the whole text.
#include "tests/unit/support/replay_rig.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::ReplayRig;

/// Two threads and two CPUs; threads of ovni streams may be on the virtual CPU.
struct ModelFaults : ::testing::Test {
  void expect(const std::string &text) {
    EXPECT_EQ(rig.last_fault(), text);
    EXPECT_EQ(rig.faults(), ++count) << text;
  }
  ReplayRig rig{2, 2, builtin_models(), true};
  uint64_t count = 0;
};

TEST_F(ModelFaults, AThreadMustBeActiveToChangeItsCpu) {
  rig.at(1).ovni("OHx", 0, {0, 0, 0, 0}).at(2).ovni("OHp", 0).at(3).ovni("OAs", 0, {1});
  expect("OAs: t0 (100) cannot change its CPU: it is Paused");
}

TEST_F(ModelFaults, ACpuMustBeInTheTrace) {
  rig.at(1).ovni("OHx", 0, {0, 0, 0, 0}).at(2).ovni("OAs", 0, {7});
  expect("OAs of t0 (100) names CPU 7, which is not in the trace");
  rig.at(3).ovni("OAr", 1, {-2, 100}, 0);
  expect("OAr of t1 (101) names CPU -2, which is not in the trace");
}

TEST_F(ModelFaults, ACpuNeedsFourBytes) {
  rig.at(1).ovni("OHx", 0, {0, 0, 0, 0}).at(2).ovni("OAs", 0);
  expect("OAs of t0 (100) has a payload of 0 bytes, too short for a CPU");
}

TEST_F(ModelFaults, APayloadHasTheSizeOfItsEvent) {
  rig.at(1).ovni("OHx", 0, {0, 0, 0, 0}).at(2).ovni("OAs", 0, {1, 0});
  expect("OAs of t0 (100) has a payload of 8 bytes, not 4");
  rig.at(3).ovni("OAr", 1, {0, 100, 0}, 0);
  expect("OAr of t1 (101) has a payload of 12 bytes, not 8");
  EXPECT_EQ(rig.cpu(0), 0u) << "both moved it";
}

TEST_F(ModelFaults, AThreadThatIsMovedMustExistAndBeElsewhere) {
  rig.at(1).ovni("OHx", 0, {0, 0, 0, 0}).at(2).ovni("OAr", 0, {1, 999});
  expect("OAr of t0 (100) names no thread of the trace");
  rig.at(3).ovni("OAr", 0, {1, 101}, 1);
  expect("OAr: t1 (101) cannot be put on CPU 1: it is Unknown");
  rig.at(4).ovni("OHx", 1, {1, 0, 0, 0}).at(5).ovni("OAr", 0, {1, 101}, 1);
  expect("OAr: t1 (101) is put on CPU 1, where it is already");
}

TEST_F(ModelFaults, AStepMustBeLegal) {
  rig.at(1).ovni("OHx", 0, {0, 0, 0, 0}).at(2).ovni("OHr", 0);
  expect("OHr: t0 (100) cannot resume: it is Running");
  rig.at(3).ovni("OHw", 0);
  expect("OHw: t0 (100) cannot warm: it is Running");
}

TEST_F(ModelFaults, OneThreadAtATimeRunsOnACpu) {
  rig.at(1).ovni("OHx", 0, {0, 0, 0, 0}).at(2).ovni("OHx", 1, {0, 0, 0, 0});
  expect("OHx: t1 (101) runs on CPU 0, on which another thread runs");
}

TEST_F(ModelFaults, ACpuIsHandedOverAtALaterTime) {
  rig.at(1).ovni("OHx", 0, {0, 0, 0, 0}).at(5).ovni("OHp", 0).ovni("OHx", 1, {0, 0, 0, 0});
  expect("OHx: t1 (101) gets CPU 0 at the time at which t0 (100) leaves it: their order is open");
  rig.at(6).ovni("OHp", 1).ovni("OHr", 1);
  EXPECT_EQ(rig.faults(), count) << "the same thread may return at once";
  rig.at(7).ovni("OHp", 1).at(8).ovni("OHr", 0);
  EXPECT_EQ(rig.faults(), count) << "1 ns later";
}

TEST_F(ModelFaults, AMigrationMustBePossible) {
  rig.at(1).dispatch(0, 0).at(2).ftrace(FTrace_EXT_migrate, 0, 0, 1);
  expect("t0 (100) is put on CPU 1, but is Running on CPU 0");
  rig.at(3).sleep(0, 0).at(4).ftrace(FTrace_EXT_migrate, 0, 0, 9);
  expect("t0 (100) is put on CPU 9, which is not in the trace");
  rig.at(5).end(1, 1).at(6).ftrace(FTrace_EXT_migrate, 1, 0, 1);
  expect("t1 (101) is put on CPU 1, but is Dead on no CPU");
}

TEST_F(ModelFaults, AStateAndItsCpuMustExist) {
  rig.at(1).ftrace(FTrace_EXT_state, 0, 0, 6);
  expect("t0 (100) is said to be in state 6, which does not exist");
  rig.at(2).ftrace(FTrace_EXT_state, 0, 0, 5 | 9u << FTRACE_SNAPSHOT_CPU_SHIFT);
  expect("t0 (100) is said to be Warming on CPU 9, which is not in the trace");
}

TEST_F(ModelFaults, AnExecMustBeOfAThreadThatThereIs) {
  rig.at(1).dispatch(0, 0).at(2).ftrace(FTrace_EXT_exec, 0, 0, 555);
  expect("t0 (100) goes on with execve of thread 555, which its process does not have");
}

TEST_F(ModelFaults, AThreadGetsAndLeavesItsOwnCpu) {
  rig.at(1).dispatch(0, 0).at(2).end(1, 1).at(3).dispatch(1, 1);
  expect("t1 (101) gets CPU 1, but is Dead on no CPU");
  rig.at(4).sleep(1, 0);
  expect("t1 (101) leaves CPU 0 (to pause), but is Running on CPU 1");
}

} // namespace
} // namespace ovnitrace
