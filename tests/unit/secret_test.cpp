// SPDX-License-Identifier: BSD-2-Clause
// The shared secret: user/net/secret.
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/temp_dir.h"
#include "user/net/secret.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>

namespace ovnitrace {
namespace {

// FIPS 180-2, B.1: what openssl(1) and gnutls-cli(1) would be given for that secret.
TEST(PresharedKeyTest, IsTheDigestOfTheSecret) {
  std::string hex;
  for (uint8_t byte : preshared_key("abc"))
    hex += fmt::format("{:02x}", byte);
  EXPECT_EQ(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
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
    return test::error_from([&] { read_key(path); });
  }
  test::TempDir dir_;
};

TEST_F(KeyFile, IsReadWithoutItsNewline) {
  EXPECT_EQ(read_key(write("0123456789abcdef\n")), preshared_key("0123456789abcdef"));
  EXPECT_EQ(read_key(write("0123456789abcdef\n\n")), preshared_key("0123456789abcdef\n"));
  EXPECT_EQ(read_key(write(std::string(4096, 'k'), 0400)), preshared_key(std::string(4096, 'k')));
  EXPECT_EQ(read_key(write(std::string(4096, 'k') + "\n")), preshared_key(std::string(4096, 'k')));
}

TEST_F(KeyFile, IsRefusedIfOthersMayReadIt) {
  for (mode_t mode : {0640, 0604, 0620, 0602, 0610, 0644})
    EXPECT_NE(refusal(write("0123456789abcdef", mode)).find("others may read or write it"),
              std::string::npos)
        << mode;
  EXPECT_EQ(refusal(write("0123456789abcdef", 04640)),
            "--key " + (dir_ / "key") +
                ": others may read or write it (mode 4640): chmod 600 it, and make a new key if "
                "somebody may have");
}

TEST_F(KeyFile, IsRefusedIfItHasNoKey) {
  EXPECT_NE(refusal(write("0123456789abcde\n")).find("has 15 bytes"), std::string::npos);
  EXPECT_NE(refusal(write(std::string(4097, 'k'))).find("has 4097 bytes"), std::string::npos);
  EXPECT_NE(refusal(dir_ / "none").find("No such file"), std::string::npos);
  EXPECT_NE(refusal(dir_.path()).find("no regular file"), std::string::npos);
  ASSERT_EQ(mkfifo((dir_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(refusal(dir_ / "fifo"), "--key " + (dir_ / "fifo") + ": is no regular file");
  EXPECT_EQ(refusal(write("\n")),
            "--key " + (dir_ / "key") +
                ": has 0 bytes; a key has 16 to 4096: head -c 32 /dev/urandom | base64 > FILE");
}

// The memory of this process, from address 0: a file whose read fails.
TEST_F(KeyFile, AFailedReadIsNoEmptyKey) {
  EXPECT_EQ(refusal("/proc/self/mem"), "--key /proc/self/mem: cannot be read: Input/output error");
  EXPECT_EQ(refusal(dir_ / "none"),
            "--key " + (dir_ / "none") + ": cannot be read: No such file or directory");
}

} // namespace
} // namespace ovnitrace
