// SPDX-License-Identifier: BSD-2-Clause
// Data that do not fit into memory: emulator/base/temporary_file.
#include "emulator/base/temporary_file.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace ovnitrace {
namespace {

class TemporaryFiles : public testing::Test {
protected:
  TemporaryFiles() {
    if (const char *before = getenv("TMPDIR"))
      before_ = before;
    setenv("TMPDIR", dir_.path().c_str(), 1);
  }
  ~TemporaryFiles() override {
    unsetenv("TMPDIR");
    if (before_)
      setenv("TMPDIR", before_->c_str(), 1);
  }
  std::string read(const TemporaryFile &file, uint64_t offset, size_t size) {
    std::string bytes(size, '?');
    file.read(offset, bytes.data(), size);
    return bytes;
  }
  test::TempDir dir_;
  std::optional<std::string> before_;
};

TEST_F(TemporaryFiles, ReturnAppendedBytesAtTheirOffset) {
  TemporaryFile file;
  EXPECT_EQ(file.size(), 0u);
  file.append("abc", 3);
  file.append("", 0);
  file.append("defgh", 5);
  EXPECT_EQ(file.size(), 8u);
  EXPECT_EQ(read(file, 0, 8), "abcdefgh");
  EXPECT_EQ(read(file, 2, 3), "cde");
  EXPECT_EQ(read(file, 7, 1), "h");
  file.append("i", 1);
  EXPECT_EQ(read(file, 8, 1), "i") << "reading does not move where it is written";
}

TEST_F(TemporaryFiles, HaveNoNameAndAreMadeByTheFirstWrite) {
  setenv("TMPDIR", (dir_ / "none").c_str(), 1);
  TemporaryFile file;
  EXPECT_EQ(test::error_from([&] { file.append("x", 1); }),
            "cannot make a temporary file in " + dir_ / "none" +
                ": No such file or directory; name another place with TMPDIR");
  setenv("TMPDIR", dir_.path().c_str(), 1);
  file.append("x", 1);
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

TEST_F(TemporaryFiles, ReadingBeyondTheEndFails) {
  TemporaryFile file;
  file.append("abc", 3);
  EXPECT_EQ(test::error_from([&] { read(file, 1, 3); }),
            "cannot read a temporary file in " + dir_.path() +
                ": Input/output error; name another place with TMPDIR");
}

} // namespace
} // namespace ovnitrace
