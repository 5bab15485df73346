// SPDX-License-Identifier: BSD-2-Clause
// Captures in a memory cgroup with a limit: they fit, or they are refused before they start.
#include "tests/e2e/support/cgroups.h"
#include "tests/e2e/support/e2e.h"

#include <unistd.h>

#include <fstream>
#include <memory>

namespace ovnitrace::test {

namespace {

bool write(const std::string &file, const std::string &text) {
  std::ofstream out(file);
  out << text << std::flush;
  return bool(out);
}

/// A cgroup with a limit of memory, of version 1 or 2.
class MemoryCgroup {
public:
  MemoryCgroup() {
    for (const auto &[root, limit] : {std::pair("/sys/fs/cgroup", "/memory.max"),
                                      {"/sys/fs/cgroup/unified", "/memory.max"},
                                      {"/sys/fs/cgroup/memory", "/memory.limit_in_bytes"}}) {
      write(std::string(root) + "/cgroup.subtree_control", "+memory");
      if (access((std::string(root) + "/cgroup.procs").c_str(), W_OK) != 0)
        continue;
      cgroup_ = std::make_unique<TestCgroup>(root, "ovnitrace-test-" + std::to_string(getpid()));
      limit_ = cgroup_->path() + limit;
      if (set_limit(1000))
        return;
    }
    cgroup_.reset();
  }

  bool exists() const { return cgroup_ != nullptr; }
  const std::string &path() const { return cgroup_->path(); }
  bool set_limit(int mib) { return write(limit_, std::to_string(mib) + "M"); }

private:
  std::unique_ptr<TestCgroup> cgroup_;
  std::string limit_;
};

} // namespace

class MemoryLimit : public CaptureTest,
                    public testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(MemoryLimit, WhatIsAskedForIsEnough) {
  MemoryCgroup cgroup;
  if (!cgroup.exists())
    GTEST_SKIP() << "there is no memory controller";
  const auto capture = [&](const std::string &name, int mib) {
    EXPECT_TRUE(cgroup.set_limit(mib));
    Command command = record_command(path(name), {"true"}, GetParam());
    command.in_child = [&] { TestCgroup::move(getpid(), cgroup.path()); };
    return run(command);
  };
  const Outcome refused = capture("refused", 40);
  EXPECT_EQ(refused.status(), 1);
  const std::string before = "this capture needs about ";
  const size_t at = refused.err.find(before);
  ASSERT_NE(at, std::string::npos) << refused.err;

  constexpr int kTaken = 4; // MiB, by this process before it executes ovnitrace
  const Outcome fits = capture("fits", std::stoi(refused.err.substr(at + before.size())) + kTaken);
  EXPECT_EQ(fits.status(), 0) << fits.err;
  EXPECT_EQ(fits.err.find("allocate memory"), std::string::npos) << fits.err;
}

INSTANTIATE_TEST_SUITE_P(
    , MemoryLimit,
    testing::Values(std::vector<std::string>{}, std::vector<std::string>{"--filter", "all"},
                    std::vector<std::string>{"--stacks"},
                    std::vector<std::string>{"--control", "start:enter_func:main"}));

} // namespace ovnitrace::test
