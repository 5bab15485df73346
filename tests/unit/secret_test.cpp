// SPDX-License-Identifier: BSD-2-Clause
// The shared secret: user/net/secret.
#include "emulator/base/error.h"
#include "tests/unit/support/temp_dir.h"
#include "user/net/secret.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>

namespace ovnitrace {
namespace {

std::string hex(const Digest &digest) {
  std::string text;
  for (uint8_t byte : digest)
    text += fmt::format("{:02x}", byte);
  return text;
}

// RFC 4231, test cases 2 and 1.
TEST(Hmac, IsThatOfTheStandard) {
  EXPECT_EQ(hex(hmac("Jefe", {"what do ya want ", "for nothing?"})),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(hmac(std::string(20, '\x0b'), {"Hi There"})),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
}

TEST(Hmac, IsComparedWhole) {
  const Digest digest = hmac("key", {"text"});
  std::string bytes(bytes_of(digest));
  EXPECT_TRUE(equal(digest, bytes));
  bytes[31] ^= 1;
  EXPECT_FALSE(equal(digest, bytes));
  EXPECT_FALSE(equal(digest, bytes.substr(0, 31)));
  EXPECT_FALSE(equal(digest, ""));
  EXPECT_NE(random_digest(), random_digest());
}

class KeyFile : public testing::Test {
protected:
  std::string write(const std::string &text, mode_t mode = 0600) {
    const std::string path = dir_ / "key";
    std::ofstream(path, std::ios::binary) << text;
    chmod(path.c_str(), mode);
    return path;
  }
  std::string refusal(const std::string &path) {
    try {
      read_key(path);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }
  test::TempDir dir_;
};

TEST_F(KeyFile, IsReadWithoutItsNewline) {
  EXPECT_EQ(read_key(write("0123456789abcdef\n")), "0123456789abcdef");
  EXPECT_EQ(read_key(write(std::string(4096, 'k'), 0400)), std::string(4096, 'k'));
}

TEST_F(KeyFile, IsRefusedIfOthersMayReadIt) {
  for (mode_t mode : {0640, 0604, 0620, 0602, 0610, 0644})
    EXPECT_NE(refusal(write("0123456789abcdef", mode)).find("others may read or write it"),
              std::string::npos)
        << mode;
}

TEST_F(KeyFile, IsRefusedIfItIsNone) {
  EXPECT_NE(refusal(write("0123456789abcde\n")).find("holds 15 bytes"), std::string::npos);
  EXPECT_NE(refusal(write(std::string(4097, 'k'))).find("holds 4097 bytes"), std::string::npos);
  EXPECT_NE(refusal(dir_ / "none").find("No such file"), std::string::npos);
  EXPECT_NE(refusal(dir_.path()).find("no regular file"), std::string::npos);
  ASSERT_EQ(mkfifo((dir_ / "fifo").c_str(), 0600), 0);
  EXPECT_NE(refusal(dir_ / "fifo").find("no regular file"), std::string::npos);
}

} // namespace
} // namespace ovnitrace
