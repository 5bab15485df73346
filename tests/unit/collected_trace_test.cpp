// SPDX-License-Identifier: BSD-2-Clause
// The directory that a collector fills: user/net/collected_trace.
#include "emulator/base/error.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "user/net/collected_trace.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>

namespace ovnitrace {
namespace {

class CollectedTraceTest : public testing::Test {
protected:
  /// In pieces, as it comes.
  void describe(const std::string &text) {
    for (size_t at = 0; at < text.size(); at += 100'000)
      trace_.describe(std::string_view(text).substr(at, 100'000));
    trace_.end_description();
  }
  std::string refusal(const std::string &text) {
    return test::error_from([&] { describe(text); });
  }
  std::string kept() const { return test::text_of(trace_.path() + "/trace.json"); }

  test::TempDir dir_;
  CollectedTrace trace_{dir_.path(), "app", 0};
};

// Byte for byte, in place of the one before; whatever a reader will say of it.
TEST_F(CollectedTraceTest, KeepsTheLastCompleteDescription) {
  std::string list = "{\"threads\": [0";
  for (int n = 0; n < 30'000; n++)
    list += ", {\"name\": \"\\u00e9\", \"tid\": -1.5e3}";
  for (const std::string &text : {std::string("{}"), list + "]}\n", std::string("\0[", 2)}) {
    EXPECT_EQ(refusal(text), "");
    EXPECT_EQ(kept(), text);
  }
  trace_.describe("half of");
  EXPECT_EQ(kept(), std::string("\0[", 2));
}

TEST_F(CollectedTraceTest, RemovesADescriptionThatDidNotComeWhole) {
  std::string place;
  {
    CollectedTrace trace(dir_.path(), "half", 0);
    place = trace.path();
    trace.describe("{}");
    trace.end_description();
    trace.describe("half of");
  }
  std::set<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(place))
    names.insert(entry.path().filename());
  EXPECT_EQ(names, std::set<std::string>{"trace.json"});
}

// Somebody else may have put a link there.
TEST_F(CollectedTraceTest, ADescriptionReplacesAFileUnderItsTemporaryName) {
  std::filesystem::create_symlink(dir_ / "elsewhere", trace_.path() + "/.trace.json.new");
  describe("{}");
  EXPECT_EQ(kept(), "{}");
  EXPECT_FALSE(std::filesystem::exists(dir_ / "elsewhere"));
}

TEST_F(CollectedTraceTest, WantsADescriptionAtItsEnd) {
  EXPECT_EQ(refusal(""), "the trace.json is empty");
}

TEST_F(CollectedTraceTest, HasAFileForEachCpuAndCodec) {
  const mode_t before = umask(0);
  trace_.append(3, Codec::none, "ab");
  trace_.append(12, Codec::none, "c");
  trace_.append(3, Codec::none, "de");
  trace_.append(3, Codec::zstd, "fgh");
  trace_.append(TraceSink::kPlainFile, Codec::none, "ijkl");
  umask(before);
  EXPECT_EQ(trace_.bytes(), 12u);
  const std::map<std::string, std::string> expected = {{"cpu0003.ftr", "abde"},
                                                       {"cpu0003.ftr.zst", "fgh"},
                                                       {"cpu0012.ftr", "c"},
                                                       {"trace.dat", "ijkl"}};
  std::map<std::string, std::string> files;
  for (const auto &entry : std::filesystem::directory_iterator(trace_.path())) {
    files[entry.path().filename()] = test::text_of(entry.path());
    EXPECT_EQ(int(entry.status().permissions()), 0644) << entry.path();
  }
  EXPECT_EQ(files, expected);
}

TEST_F(CollectedTraceTest, TakesTheNextNameThatIsFree) {
  EXPECT_EQ(trace_.path(), dir_ / "app");
  EXPECT_EQ(CollectedTrace(dir_.path(), "app", 0).path(), dir_ / "app-2");
  EXPECT_EQ(CollectedTrace(dir_.path(), "app", 0).path(), dir_ / "app-3");
}

TEST_F(CollectedTraceTest, IsGoneIfItIsDiscarded) {
  trace_.append(0, Codec::none, "ab");
  trace_.discard();
  EXPECT_FALSE(std::filesystem::exists(trace_.path()));
}

// A link that somebody puts there is not followed, and nothing more is written after that.
TEST_F(CollectedTraceTest, SaysWhatFailedAndTakesNothingMore) {
  std::filesystem::create_symlink("elsewhere", trace_.path() + "/cpu0001.ftr");
  const auto error_of = [&](uint16_t cpu) {
    return test::error_from([&] { trace_.append(cpu, Codec::none, "ab"); });
  };
  EXPECT_EQ(error_of(0), "");
  EXPECT_EQ(error_of(1), "cannot write cpu0001.ftr: Too many levels of symbolic links; what had "
                         "been written before stays readable");
  EXPECT_EQ(error_of(0), "nothing more is written to " + trace_.path() + " after a failure");
  EXPECT_EQ(trace_.bytes(), 2u);
  EXPECT_EQ(test::text_of(trace_.path() + "/cpu0000.ftr"), "ab");
}

// A limit of file sizes fails as a full disk does, in the middle of a text here.
TEST_F(CollectedTraceTest, CountsWhatWasWrittenBeforeTheDiskWasFull) {
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {5, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string described = refusal("123456"), appended = test::error_from([&] {
                                                     CollectedTrace other(dir_.path(), "other", 0);
                                                     other.append(7, Codec::none, "123");
                                                     try {
                                                       other.append(7, Codec::none, "456");
                                                     } catch (const Error &) {
                                                       EXPECT_EQ(other.bytes(), 5u);
                                                       throw;
                                                     }
                                                   });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(described, "cannot write trace.json: File too large; nothing was kept");
  EXPECT_EQ(appended, "cannot write cpu0007.ftr: File too large; what had been written before "
                      "stays readable");
  EXPECT_EQ(test::text_of(dir_ / "other/cpu0007.ftr"), "12345");
  EXPECT_EQ(test::error_from([&] { trace_.append(7, Codec::none, "1"); }),
            "nothing more is written to " + trace_.path() + " after a failure");
}

// A trace without records is discarded: then nothing is there to be read.
TEST_F(CollectedTraceTest, SaysWhetherAnythingIsKept) {
  const auto refusal_after = [&](const std::string &first) {
    CollectedTrace trace(dir_.path(), "kept" + std::to_string(first.size()), 100);
    if (!first.empty())
      trace.append(0, Codec::zstd, first);
    return test::error_from([&] { trace.append(0, Codec::zstd, std::string(101, 'c')); });
  };
  EXPECT_EQ(refusal_after(""),
            "the limit of 100 bytes for one trace is reached (--max-size); nothing was kept");
  EXPECT_EQ(refusal_after("c"), "the limit of 100 bytes for one trace is reached (--max-size); "
                                "what had been written before stays readable");
}

// Exactly as many as it may have, trace.json included.
TEST_F(CollectedTraceTest, CountsAllOfItsBytes) {
  CollectedTrace trace(dir_.path(), "limited", 100);
  trace.append(0, Codec::zstd, std::string(60, 'c'));
  trace.describe(std::string(40, 'd'));
  trace.end_description();
  EXPECT_THROW(trace.append(0, Codec::zstd, "c"), Error);
  EXPECT_EQ(trace.bytes(), 60u);
  CollectedTrace other(dir_.path(), "other", 100);
  other.describe(std::string(40, 'd'));
  other.append(0, Codec::zstd, std::string(60, 'c'));
  EXPECT_THROW(other.describe("d"), Error);
}

} // namespace
} // namespace ovnitrace
