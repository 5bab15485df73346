// SPDX-License-Identifier: BSD-2-Clause
// What was mapped where and when: user/stacks/mappings.
#include "tests/unit/support/mapped_place.h"
#include "user/stacks/mappings.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::at;

TEST(Mappings, GiveTheFileAndTheOffsetInIt) {
  Mappings mappings;
  mappings.map(7, 10, 1000, 2000, 500, {"/a", 1});
  mappings.map(7, 10, 3000, 4000, 0, {"", 0});
  EXPECT_EQ(at(mappings, 7, 10, 1000), "/a+500");
  EXPECT_EQ(at(mappings, 7, 99, 1999), "/a+1499");
  EXPECT_EQ(at(mappings, 7, 99, 2000), "?");
  EXPECT_EQ(at(mappings, 7, 9, 1000), "?") << "not mapped yet";
  EXPECT_EQ(at(mappings, 7, 99, 3500), "code");
  EXPECT_EQ(at(mappings, 8, 99, 1000), "?") << "another process";
}

TEST(Mappings, TheLaterOneCountsWhereTwoAre) {
  Mappings mappings;
  mappings.map(7, 20, 1000, 2000, 0, {"/new", 2});
  mappings.map(7, 10, 1000, 2000, 0, {"/old", 1});
  EXPECT_EQ(at(mappings, 7, 15, 1500), "/old+500");
  EXPECT_EQ(at(mappings, 7, 25, 1500), "/new+500");
}

TEST(Mappings, WhatIsMappedAgainAtItsPlaceTakesNoRoom) {
  Mappings mappings;
  const CodeFile library = {"/lib", 1}, other = {"/other", 2};
  for (uint64_t time = 1; time <= 100'000; time++) { // dlopen() and dlclose()
    mappings.map(7, time, 1000, 2000, 0, library);
    mappings.map(7, time, 3000, 4000, 3000, {"", 0});
  }
  EXPECT_EQ(mappings.code(mappings.life(7, 1))->pieces().size(), 2u);
  EXPECT_EQ(at(mappings, 7, 50'000, 1500), "/lib+500");
  mappings.map(7, 200'000, 1000, 2000, 0, other);
  mappings.map(7, 300'000, 1000, 2000, 0, library);
  EXPECT_EQ(at(mappings, 7, 250'000, 1500), "/other+500");
  EXPECT_EQ(at(mappings, 7, 300'000, 1500), "/lib+500") << "it was replaced meanwhile";
  mappings.map(7, 0, 1000, 2000, 0, library);
  EXPECT_EQ(at(mappings, 7, 0, 1500), "/lib+500") << "earlier than known";
}

TEST(Mappings, ALongerMappingOfTheSamePlaceIsNew) {
  Mappings mappings;
  mappings.map(7, 10, 1000, 2000, 500, {"/a", 1});
  mappings.map(7, 20, 1000, 3000, 500, {"/a", 1});
  mappings.map(7, 30, 1000, 2999, 500, {"/a", 1});
  const auto &pieces = mappings.code(mappings.life(7, 0))->pieces();
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[1].end, 3000u);
  EXPECT_EQ(at(mappings, 7, 25, 2999), "/a+2499");
  EXPECT_EQ(at(mappings, 7, 15, 2000), "?");
  EXPECT_EQ(mappings.replacements(mappings.life(7, 0), 99), 0u);
}

TEST(Mappings, CountsReplacementsUpToATimeInAnyOrder) {
  Mappings mappings;
  const CodeFile files[] = {{"/a", 1}, {"/b", 2}};
  mappings.map(7, 5, 1000, 2000, 0, files[0]);
  for (const uint64_t time : {20, 10, 30, 25})
    mappings.map(7, time, 1000, 2000, 0, files[time / 10 % 2]);
  const uint32_t life = mappings.life(7, 0);
  std::vector<uint32_t> counts;
  for (const uint64_t time : {9, 10, 20, 24, 25, 29, 30})
    counts.push_back(mappings.replacements(life, time));
  EXPECT_EQ(counts, (std::vector<uint32_t>{0, 1, 1, 1, 2, 2, 3}));
}

TEST(Mappings, WhatIsMappedAgainCountsFromItsFirstTime) {
  Mappings mappings;
  mappings.map(7, 20, 1000, 2000, 0, {"/a", 1});
  EXPECT_EQ(at(mappings, 7, 19, 1500), "?");
  mappings.map(7, 10, 1000, 2000, 0, {"/a", 1}); // the report comes late
  EXPECT_EQ(at(mappings, 7, 10, 1500), "/a+500");
}

TEST(Mappings, CodeInNoFileReplacesNoOtherCodeInNoFile) {
  Mappings mappings;
  mappings.map(7, 10, 1000, 2000, 0, {"", 0});
  mappings.map(7, 20, 1500, 2500, 0, {"", 0});
  EXPECT_EQ(mappings.replacements(mappings.life(7, 0), 99), 0u);
}

TEST(Mappings, AreLimitedAndDoubtfulBeyondTheLimit) {
  Mappings mappings;
  for (uint64_t n = 1; n <= Mappings::kMost; n++)
    mappings.map(7, n, 1000 * n, 1000 * n + 500, 0, {"", 0});
  const uint64_t last = Mappings::kMost;
  EXPECT_EQ(at(mappings, 7, last, 1000 * last), "code");
  EXPECT_EQ(mappings.left_out(), 0u);
  EXPECT_FALSE(mappings.is_doubtful(mappings.life(7, last)));
  mappings.map(7, last + 1, 1000 * (last + 1), 1000 * (last + 1) + 500, 0, {"", 0});
  EXPECT_EQ(at(mappings, 7, last + 1, 1000 * (last + 1)), "?");
  EXPECT_EQ(mappings.left_out(), 1u);
  EXPECT_TRUE(mappings.is_doubtful(mappings.life(7, last + 1)));
}

TEST(Mappings, PathsOfFilesAreLimited) {
  Mappings mappings;
  const size_t most = Mappings::kMostPathBytes / 1000;
  for (uint64_t n = 0; n <= most; n++)
    mappings.map(7, n, 1000 * n, 1000 * n + 500, 0, {"/" + std::string(999, 'p'), n});
  EXPECT_EQ(mappings.files().size(), most);
  EXPECT_EQ(mappings.left_out(), 1u);
  EXPECT_EQ(at(mappings, 7, most, 1000 * most), "code");
  mappings.map(8, 0, 1000, 2000, 0, {"/" + std::string(999, 'p'), 5});
  EXPECT_EQ(mappings.left_out(), 1u) << "a known file takes no more";
}

TEST(Mappings, AMappingIsFoundBehindManyThatStartLaterAndEndEarlier) {
  Mappings mappings;
  mappings.map(7, 10, 1000, 100000, 0, {"/large", 1});
  for (uint64_t start = 2000; start < 50000; start += 1000)
    mappings.map(7, 20, start, start + 10, 0, {"/small", 2});
  EXPECT_EQ(at(mappings, 7, 30, 99999), "/large+98999");
  EXPECT_EQ(at(mappings, 7, 30, 2005), "/small+5");
  EXPECT_EQ(at(mappings, 7, 30, 2010), "/large+1010");
}

TEST(Mappings, AChildInheritsMappingsAndAnExecDropsThem) {
  Mappings mappings;
  mappings.map(7, 0, 1000, 2000, 0, {"/a", 1});
  mappings.fork(8, 7, 50);
  mappings.map(7, 60, 3000, 4000, 0, {"/later", 2});
  EXPECT_EQ(at(mappings, 8, 70, 1000), "/a+0");
  EXPECT_EQ(at(mappings, 8, 70, 3000), "?");
  const uint32_t child = mappings.life(8, 70);
  mappings.exec(8, 80);
  mappings.map(8, 81, 1000, 2000, 0, {"/b", 3});
  EXPECT_EQ(at(mappings, 8, 90, 1000), "/b+0");
  EXPECT_EQ(at(mappings, 8, 70, 1000), "/a+0") << "it was so before";
  EXPECT_NE(mappings.life(8, 90), child);
  EXPECT_EQ(mappings.life(8, 70), child);
  mappings.fork(8, 1, 100); // the pid comes to another process
  EXPECT_EQ(at(mappings, 8, 110, 1000), "?");
}

TEST(Mappings, AreKnownAgainAfterAnExec) {
  Mappings mappings;
  mappings.map(7, 0, 1000, 2000, 0, {"/a", 1});
  EXPECT_FALSE(mappings.is_doubtful(mappings.life(7, 200)));
  mappings.fork(8, 7, 50);
  mappings.miss(100);
  mappings.fork(9, 7, 150);
  for (const uint32_t pid : {7u, 8u, 9u, 10u})
    EXPECT_TRUE(mappings.is_doubtful(mappings.life(pid, 200))) << pid;
  mappings.exec(8, 120);
  mappings.fork(11, 8, 130);
  EXPECT_TRUE(mappings.is_doubtful(mappings.life(8, 110)));
  EXPECT_FALSE(mappings.is_doubtful(mappings.life(8, 120)));
  EXPECT_FALSE(mappings.is_doubtful(mappings.life(11, 140)));
  mappings.miss(110);
  EXPECT_FALSE(mappings.is_doubtful(mappings.life(8, 120)));
  mappings.miss(160);
  EXPECT_TRUE(mappings.is_doubtful(mappings.life(11, 170)));
}

// An execve that is more generations back is not found.
TEST(Mappings, AreDoubtfulIn64GenerationsAfterAnExec) {
  Mappings mappings;
  mappings.exec(100, 10);
  mappings.miss(5);
  for (uint32_t n = 1; n <= 64; n++)
    mappings.fork(100 + n, 100 + n - 1, 10 + n);
  EXPECT_FALSE(mappings.is_doubtful(mappings.life(163, 99)));
  EXPECT_TRUE(mappings.is_doubtful(mappings.life(164, 99)));
}

} // namespace
} // namespace ovnitrace
