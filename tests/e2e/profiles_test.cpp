// SPDX-License-Identifier: BSD-2-Clause
// export --to pprof and speedscope: the same times as in folded stacks and `why`.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

namespace ovnitrace::test {

namespace {

using Json = nlohmann::json;

/// The sums of the columns that pprof prints for samples: "1 20 0 20: 5 6 7".
std::array<uint64_t, 4> sums_of_samples(const std::string &raw) {
  std::array<uint64_t, 4> sums{};
  for (const std::string &line : lines_of(raw)) {
    std::array<unsigned long long, 4> v{};
    if (std::sscanf(line.c_str(), " %llu %llu %llu %llu:", &v[0], &v[1], &v[2], &v[3]) == 4)
      for (size_t n = 0; n < v.size(); n++)
        sums[n] += v[n];
  }
  return sums;
}

} // namespace

class Profiles : public CaptureTest {
protected:
  void capture() {
    record({"sh", "-c", "sleep 0.02 & sleep 0.03; wait; exec sleep 0.01"}, {"--stacks"});
  }
  std::string exported(const std::string &format) {
    const std::string file = path("out." + format);
    const Outcome written =
        run({.argv = {ovnitrace(), "export", "--to", format, trace(), "-o", file}});
    EXPECT_EQ(written.status(), 0) << written.err;
    return file;
  }
  /// ns in folded stacks: blocked, waiting for a CPU.
  std::pair<uint64_t, uint64_t> folded_ns() {
    std::pair<uint64_t, uint64_t> ns;
    for (const std::string &line : lines_of(read_text(exported("folded")))) {
      const bool waits = line.find(";[waiting for a CPU] ") != line.npos;
      (waits ? ns.second : ns.first) += std::stoull(line.substr(line.rfind(' ') + 1));
    }
    return ns;
  }
  Json why() { return Json::parse(run({.argv = {ovnitrace(), "why", "--json", trace()}}).out); }
};

TEST_F(Profiles, SpeedscopeAddsUpToFoldedStacksAndToWhy) {
  capture();
  const auto [blocked, waiting] = folded_ns();
  ASSERT_GT(blocked, 40'000'000u) << "sleeps of 30 and 10 ms";
  uint64_t ns = 0, why_blocked = 0, why_waiting = 0;
  const Json file = Json::parse(read_text(exported("speedscope")));
  for (const Json &profile : file["profiles"]) {
    EXPECT_EQ(profile["samples"].size(), profile["weights"].size());
    for (const Json &weight : profile["weights"])
      ns += weight.get<uint64_t>();
  }
  const Json explained = why();
  for (const Json &thread : explained["threads"]) {
    why_blocked += thread["blocked_ns"].get<uint64_t>();
    why_waiting += thread["waiting_ns"].get<uint64_t>();
  }
  EXPECT_EQ(ns, blocked + waiting);
  EXPECT_EQ(why_blocked, blocked);
  EXPECT_EQ(why_waiting, waiting);
}

/// The shell becomes a `sleep`, and so its main thread has a profile of each name.
TEST_F(Profiles, HaveTheNamesOfThatTime) {
  capture();
  std::vector<std::string> names;
  const Json file = Json::parse(read_text(exported("speedscope")));
  for (const Json &profile : file["profiles"])
    names.push_back(profile["name"].get<std::string>());
  const auto has = [&](const std::string &start) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string &name) { return name.starts_with(start); });
  };
  EXPECT_TRUE(has("sh (")) << Json(names);
  EXPECT_TRUE(has("sleep (")) << Json(names);
}

TEST_F(Profiles, AreReadByPprof) {
  if (run({.argv = {"sh", "-c", "command -v go && go tool pprof -h 2>&1 | grep -q raw"}})
          .status() != 0)
    GTEST_SKIP() << "pprof (golang-go) is not installed";
  capture();
  const auto [blocked, waiting] = folded_ns();
  const std::string file = exported("pprof");
  const auto pprof = [&](const std::vector<std::string> &options) {
    Command command{.argv = {"go", "tool", "pprof"}};
    command.argv.insert(command.argv.end(), options.begin(), options.end());
    command.argv.push_back(file);
    const Outcome shown = run(command);
    EXPECT_EQ(shown.status(), 0) << shown.err;
    return shown.out;
  };
  const std::array<uint64_t, 4> sums = sums_of_samples(pprof({"-raw"}));
  EXPECT_GT(sums[0], 0u);
  EXPECT_EQ(sums[1], blocked);
  EXPECT_EQ(sums[2], waiting);
  EXPECT_EQ(sums[3], blocked + waiting);
  EXPECT_NE(pprof({"-top", "-tagfocus=cause=clock_nanosleep"}).find("hrtimer_nanosleep_[k]"),
            std::string::npos);
}

} // namespace ovnitrace::test
