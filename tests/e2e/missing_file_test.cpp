// SPDX-License-Identifier: BSD-2-Clause
// A file of a trace that is gone is noticed by every command that reads the trace.
#include "tests/e2e/support/e2e.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;

namespace ovnitrace::test {

class MissingFile : public CaptureTest {
protected:
  static constexpr uint64_t kRecordBytes = 16;

  /// Files whose records trace.json counts, each of which must have exactly as many.
  std::vector<std::string> counted_files(const std::string &trace) {
    std::vector<std::string> files;
    const auto json = nlohmann::json::parse(read_text(trace + "/trace.json"));
    for (const auto &file : json.at("written")) {
      char name[32];
      std::snprintf(name, sizeof name, "/cpu%04u.ftr", file.at("cpu").get<unsigned>());
      files.push_back(trace + name);
      EXPECT_EQ(fs::file_size(files.back()), file.at("records").get<uint64_t>() * kRecordBytes)
          << name;
    }
    return files;
  }
  void expect_whole(const std::string &trace) {
    const Outcome reported = run({.argv = {ovnitrace(), "info", trace}});
    EXPECT_EQ(reported.status(), 0) << reported.err;
  }
};

TEST_F(MissingFile, IsNamedByEachCommandAndAFailure) {
  record({installed("pingpong"), "300"}, {"--compress=0"});
  std::vector<std::string> files = counted_files(trace());
  ASSERT_FALSE(files.empty());
  expect_whole(trace());
  const auto size = [](const std::string &file) { return fs::file_size(file); };
  std::iter_swap(files.begin(), std::ranges::max_element(files, {}, size)); // the program ran there
  fs::resize_file(files.front(),
                  fs::file_size(files.front()) - kRecordBytes); // one must be left for a trace
  if (files.size() > 1)
    fs::remove(files.back());
  for (const std::vector<std::string> &command :
       std::vector<std::vector<std::string>>{{"convert"},
                                             {"info"},
                                             {"dump"},
                                             {"export", "--to", "ovni"},
                                             {"export", "--to", "perfetto"},
                                             {"compress"},
                                             {"compress", "-d"}}) {
    std::vector<std::string> argv = {ovnitrace()};
    argv.insert(argv.end(), command.begin(), command.end());
    argv.push_back(trace());
    const Outcome outcome = run({.argv = argv});
    if (command[0] == "convert") {
      EXPECT_TRUE(exists(trace() + "/thread.prv")) << "the rest is converted; " << outcome.err;
    }
    EXPECT_EQ(outcome.status(), 1) << command[0] << ": " << outcome.err;
    EXPECT_NE(outcome.err.find("1 of its "), std::string::npos)
        << command[0] << ": " << outcome.err;
    if (files.size() > 1) {
      EXPECT_NE(outcome.err.find(files.back() + ", byte 0: the file is missing, with "),
                std::string::npos)
          << command[0] << ": " << outcome.err;
    }
  }
  if (files.size() > 1) {
    EXPECT_NE(run({.argv = {ovnitrace(), "info", "--json", trace()}}).out.find("\"lost\": null"),
              std::string::npos);
    EXPECT_NE(read_text(trace() + "/cpu.prv").find(":10:1"), std::string::npos) << "a blackout";
  }
}

TEST_F(MissingFile, AFlightRecorderHasNone) {
  record({installed("pingpong"), "3000"}, {"--buffer", "cyc:16K", "--compress=0"});
  EXPECT_FALSE(counted_files(trace()).empty());
  expect_whole(trace());
}

} // namespace ovnitrace::test
