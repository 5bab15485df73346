// SPDX-License-Identifier: BSD-2-Clause
// The page of `ovnitrace report` around its data.
#include "emulator/output/atomic_file.h"
#include "emulator/report/page.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/packed_page.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

constexpr size_t kBlock = 3 << 20; ///< bytes of data in one element

/// The base64 of each element with data.
std::vector<std::string> blocks_of(const std::string &page) {
  const std::string start = "\n<script type=\"application/octet-stream\">";
  std::vector<std::string> blocks;
  for (size_t at = 0; (at = page.find(start, at)) != page.npos;) {
    at += start.size();
    blocks.push_back(page.substr(at, page.find("</script>\n", at) - at));
  }
  return blocks;
}

class PageBytes : public ::testing::Test {
protected:
  std::string page(const std::string &data) {
    const std::string path = dir_ / "page.html";
    AtomicFile file{OutputPlace(path)};
    write_page(file, data);
    file.commit();
    return test::text_of(path);
  }

private:
  test::TempDir dir_;
};

TEST_F(PageBytes, DataAreBase64) {
  using Blocks = std::vector<std::string>;
  EXPECT_EQ(blocks_of(page("")), Blocks());
  EXPECT_EQ(blocks_of(page("\x01")), Blocks{"AQ=="});
  EXPECT_EQ(blocks_of(page("\x01\x02")), Blocks{"AQI="});
  EXPECT_EQ(blocks_of(page("\x01\x02\x03")), Blocks{"AQID"});
  EXPECT_EQ(blocks_of(page("\xfb\xff\x01\xff")), Blocks{"+/8B/w=="});
}

TEST_F(PageBytes, ThreeMebibytesAreOneElement) {
  const size_t around = page("").size();
  EXPECT_EQ(page_bytes(0), around);
  for (const size_t size : {size_t(1), size_t(2), size_t(3), size_t(4), kBlock, kBlock + 1}) {
    std::string data(size, 'x');
    data.front() = 'a';
    data.back() = 'z';
    const std::string whole = page(data);
    EXPECT_EQ(page_bytes(size), whole.size()) << size;
    const std::vector<std::string> blocks = blocks_of(whole);
    EXPECT_EQ(blocks.size(), size > kBlock ? 2u : 1u) << size;
    const auto read = [](const std::string &text) { return test::from_base64(text); };
    EXPECT_EQ(read(blocks.front().substr(0, 4)), data.substr(0, 3)) << size;
    EXPECT_EQ(blocks.front().size(), (std::min(size, kBlock) + 2) / 3 * 4) << size;
    const size_t last = (size - 1) % 3 + 1; // bytes in the last four characters
    EXPECT_EQ(read(blocks.back().substr(blocks.back().size() - 4)), data.substr(size - last))
        << size;
  }
}

TEST_F(PageBytes, DataAreASizeAHeaderAndTheParts) {
  const std::string long_name(300, 'n');
  const std::string data = test::inflate_raw(
      deflate_parts({{"name", "a\xff"}}, {{"first", "abc"}, {long_name, ""}, {"last", "de"}}));
  const std::string header = R"({"name":"a)"
                             "\xef\xbf\xbd"
                             R"(","parts":[["first",3],[")" +
                             long_name + R"(",0],["last",2]]})";
  ASSERT_GT(header.size(), 255u);
  EXPECT_EQ(data.substr(0, 4), std::string({char(header.size()), char(header.size() >> 8), 0, 0}));
  EXPECT_EQ(data.substr(4), header + "abcde");
}

} // namespace
} // namespace ovnitrace
