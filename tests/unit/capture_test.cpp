// SPDX-License-Identifier: BSD-2-Clause
// Captures that are loaded: the threads of --dry-run, and what the machine refuses. They need root.
#include "user/bpf/capture.h"

#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "tests/unit/support/child_status.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/few_files.h"
#include "tests/unit/support/ordered_child.h"
#include "user/bpf/cause_capture.h"
#include "user/bpf/family_capture.h"
#include "user/record/record.h"

#include <bpf/bpf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace ovnitrace {
namespace {

using test::limit_files;
using test::open_files;
using test::OrderedChild;

class LoadedCapture : public testing::Test {
protected:
  void SetUp() override {
    if (geteuid() != 0)
      GTEST_SKIP() << "only root may load BPF programs";
  }
};

/// Starts a thread that lives as long as the process.
void add_thread(char) {
  std::thread([] {
    for (;;)
      pause();
  }).detach();
}

// The kernel gives them by tid.
TEST_F(LoadedCapture, ThreadsAreListedByProcess) {
  const OrderedChild first(add_thread), second(add_thread);
  first.order('x');
  RecordOptions options;
  options.pids = {second.pid(), first.pid()};
  const std::vector<listed_thread> threads = list_threads(options);
  ASSERT_EQ(threads.size(), 3u);
  std::vector<uint32_t> pids;
  for (const listed_thread &one : threads)
    pids.push_back(one.pid);
  EXPECT_EQ(pids, (std::vector<uint32_t>{threads[0].tid, threads[0].tid, threads[2].tid}));
  EXPECT_LT(threads[0].pid, threads[2].pid);
  EXPECT_LT(threads[0].tid, threads[1].tid);
}

TEST_F(LoadedCapture, ThreadsOfAProcessThatIsGoneAreNotListed) {
  uint32_t gone = 0;
  {
    const OrderedChild child(add_thread);
    gone = child.pid();
  }
  RecordOptions options;
  options.pids = {gone};
  const std::string why = test::error_from([&] { list_threads(options); });
  EXPECT_NE(why.find(std::to_string(gone)), std::string::npos) << why;
}

TEST_F(LoadedCapture, ARingHasAPossibleSize) {
  EXPECT_TRUE(test::failure_from([] { Capture({.ring_bytes = 1000}); })
                  .starts_with("cannot create a ring buffer of 1000 bytes for CPU 0: Invalid "
                               "argument"));
}

/// The verifier keeps a CPU for about 3 us per instruction, before a capture can start.
TEST_F(LoadedCapture, TheVerifierIsSoonDone) {
  CaptureParameters all;
  all.stacks = STACKS_KERNEL | STACKS_USER;
  all.selection.comms = {"a*b?c"};
  all.selection.uids = {0};
  all.selection.cpus = {0};
  all.selection.cgroups = {cgroup_at("/no-such-cgroup", {})};
  all.selection.no_kernel_threads = true;
  all.selection.asked = {"all of them"};
  const Capture capture(all);
  const CauseCapture causes(capture);
  uint32_t instructions = 0, programs = 0;
  for (const auto &file : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code closed; // that of the directory itself
    if (std::filesystem::read_symlink(file, closed) != "anon_inode:bpf-prog")
      continue;
    bpf_prog_info info = {};
    uint32_t size = sizeof info;
    const int program = std::stoi(file.path().filename());
    ASSERT_EQ(bpf_obj_get_info_by_fd(program, &info, &size), 0);
    EXPECT_LE(info.verified_insns, 200'000u) << info.name;
    instructions += info.verified_insns;
    programs++;
  }
  EXPECT_GE(programs, 10u);
  EXPECT_LE(instructions, 800'000u);
}

/// Returns what is printed in a child that does this.
std::string printed_by(const std::function<void()> &act) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  EXPECT_EQ(test::status_of([&] {
              dup2(ends[1], STDERR_FILENO);
              act();
              return testing::Test::HasFailure() ? 1 : 0;
            }),
            0);
  close(ends[1]);
  std::string text(4096, 0);
  text.resize(size_t(std::max<ssize_t>(read(ends[0], text.data(), text.size()), 0)));
  close(ends[0]);
  return text;
}

TEST_F(LoadedCapture, GoesOnWithoutCausesIfTheMachineHasNoRoomForThem) {
  const Capture capture({});
  const std::string warning =
      "ovnitrace: warning: devices and refills of CPU quotas and budgets are not recorded: Too "
      "many open files\n";
  const auto expect_none = [](CauseCapture &causes) {
    causes.attach();
    EXPECT_FALSE(causes.sees_refills());
    EXPECT_EQ(causes.devices(), nullptr);
    causes.detach();
  };
  EXPECT_EQ(printed_by([&] {
              limit_files(1);
              CauseCapture causes(capture);
              expect_none(causes);
            }),
            warning);
  EXPECT_EQ(printed_by([&] {
              CauseCapture causes(capture);
              EXPECT_NE(causes.devices(), nullptr);
              limit_files(0);
              expect_none(causes);
            }),
            warning);
}

// With one file less than it needs, its last program finds none.
TEST_F(LoadedCapture, GoesOnWithoutAFamilyThatTheKernelRefuses) {
  const Capture capture({});
  const FamilySet signal = parse_families("signal");
  EXPECT_EQ(printed_by([&] {
              const size_t before = open_files();
              rlim_t needed = 0;
              {
                const FamilyCapture whole(capture, signal, {}, 0);
                EXPECT_TRUE(whole.refused().empty());
                EXPECT_EQ(whole.families(), signal);
                needed = open_files() - before;
              }
              limit_files(needed - 1);
              const FamilyCapture families(capture, signal, {}, 0);
              EXPECT_EQ(families.families().bits(), 0u);
              for (const std::string &why : families.refused())
                print_text(why);
            }),
            "ovnitrace: the kernel refuses the programs of the family signal, which is not "
            "captured: Too many open files\n");
}

} // namespace
} // namespace ovnitrace
