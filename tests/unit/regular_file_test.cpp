// SPDX-License-Identifier: BSD-2-Clause
// Files of others are opened only if they are regular; whole parts of them are read and written.
#include "emulator/base/regular_file.h"
#include "emulator/base/whole_io.h"
#include "emulator/symbols/c_library.h"
#include "emulator/symbols/call_instruction.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

namespace ovnitrace {
namespace {

class WholeFiles : public ::testing::Test {
protected:
  WholeFiles() {
    std::ofstream(dir / "file") << "12345";
    std::ofstream(dir / "program") << "#!";
    chmod((dir / "file").c_str(), 0644);
  }
  test::TempDir dir;
  struct stat status = {};
};

TEST_F(WholeFiles, IsTheOnlyKindThatIsOpened) {
  EXPECT_TRUE(open_regular(dir / "file"));
  EXPECT_FALSE(open_regular(dir / "none"));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(open_regular(dir.path()));
  EXPECT_EQ(errno, EISDIR);
  ASSERT_EQ(mkfifo((dir / "fifo").c_str(), 0600), 0);
  EXPECT_FALSE(open_regular(dir / "fifo"));
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(WholeFiles, IsAProgramWithAnyOfThreeBits) {
  EXPECT_FALSE(open_program(dir / "file"));
  EXPECT_EQ(errno, EACCES);
  for (const mode_t mode : {0744, 0654, 0645}) {
    chmod((dir / "program").c_str(), mode);
    EXPECT_TRUE(open_program(dir / "program")) << mode;
  }
}

TEST_F(WholeFiles, OfATraceHasAnAbsolutePath) {
  const UniqueFd found = open_absolute(dir / "file", status);
  EXPECT_TRUE(found);
  EXPECT_EQ(status.st_size, 5);
  EXPECT_FALSE(open_absolute("proc/self/exe", status));
  EXPECT_FALSE(open_absolute("", status));
  EXPECT_FALSE(open_absolute(dir / "none", status));
}

TEST_F(WholeFiles, InsideARootIsNotReachedFromOutside) {
  const UniqueFd root(open(dir.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  EXPECT_TRUE(open_inside(root.get(), "/file", status));
  EXPECT_EQ(status.st_size, 5);
  EXPECT_TRUE(open_inside(root.get(), "/../file", status)) << "the root is its own parent";
  EXPECT_FALSE(open_inside(root.get(), "file", status));
  EXPECT_FALSE(open_inside(root.get(), "/", status));
  EXPECT_FALSE(open_inside(root.get(), "/none", status));
}

TEST_F(WholeFiles, IsReadFromAnOffset) {
  const UniqueFd file = open_regular(dir / "file");
  char bytes[8] = "-------";
  EXPECT_EQ(read_at(file.get(), 1, bytes, 3), 3u);
  EXPECT_STREQ(bytes, "234----");
  errno = EIO;
  EXPECT_EQ(read_at(file.get(), 3, bytes, 5), 2u);
  EXPECT_EQ(errno, 0) << "the file ends there";
  EXPECT_STREQ(bytes, "454----");
  EXPECT_EQ(read_at(-1, 0, bytes, 5), 0u);
  EXPECT_EQ(errno, EBADF);
}

TEST_F(WholeFiles, IsWrittenWhole) {
  const UniqueFd file(open((dir / "new").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  EXPECT_EQ(write_all(file.get(), "abc"), 3u);
  EXPECT_EQ(write_all(file.get(), ""), 0u);
  EXPECT_EQ(write_all(file.get(), "de"), 2u);
  EXPECT_EQ(test::text_of(dir / "new"), "abcde");
  EXPECT_EQ(write_all(-1, "abc"), 0u);
  EXPECT_EQ(errno, EBADF);
}

TEST(WaitingLibraries, AreKnownByTheStartOfTheirName) {
  for (const char *path : {"/lib/libc.so.6", "libc-2.31.so", "/a/libpthread.so.0",
                           "/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1"}) {
    EXPECT_TRUE(is_c_library(path)) << path;
    EXPECT_TRUE(is_runtime_library(path)) << path;
  }
  for (const char *path :
       {"/a/libgomp.so.1", "libomp.so", "/a/libiomp5.so", "/a/libmpi_cxx.so", "libopen-pal.so",
        "libprrte.so", "libopen-rte.so", "libpmix.so.2", "libucp.so.0", "libucs.so.0"}) {
    EXPECT_FALSE(is_c_library(path)) << path;
    EXPECT_TRUE(is_runtime_library(path)) << path;
  }
  for (const char *path : {"/libc.so.6/app", "/a/libcc.so", "/a/libgompx.so", "/a/liblibc.so", ""})
    EXPECT_FALSE(is_runtime_library(path)) << path;
}

std::string bytes(std::initializer_list<unsigned> all) {
  std::string text;
  for (const unsigned byte : all)
    text += char(byte);
  return text;
}

TEST(CallInstructions, OfX86AreKnownByTheirLastBytes) {
  EXPECT_TRUE(ends_in_call_x86(bytes({0xe8, 1, 2, 3, 4}))) << "call rel32";
  EXPECT_TRUE(ends_in_call_x86(bytes({0x90, 0x90, 0xe8, 1, 2, 3, 4})));
  EXPECT_FALSE(ends_in_call_x86(bytes({0xe8, 1, 2, 3})));
  EXPECT_FALSE(ends_in_call_x86(bytes({0xe8, 1, 2, 3, 4, 5})));
  EXPECT_TRUE(ends_in_call_x86(bytes({0xff, 0xd0}))) << "call *%rax";
  EXPECT_TRUE(ends_in_call_x86(bytes({0x41, 0xff, 0xd4}))) << "call *%r12";
  EXPECT_TRUE(ends_in_call_x86(bytes({0xff, 0x10}))) << "call *(%rax)";
  EXPECT_TRUE(ends_in_call_x86(bytes({0xff, 0x50, 8}))) << "call *8(%rax)";
  EXPECT_TRUE(ends_in_call_x86(bytes({0xff, 0x90, 1, 2, 3, 4}))) << "call *far(%rax)";
  EXPECT_TRUE(ends_in_call_x86(bytes({0xff, 0x15, 1, 2, 3, 4}))) << "call *far(%rip)";
  EXPECT_TRUE(ends_in_call_x86(bytes({0xff, 0x14, 0xc8}))) << "call *(%rax,%rcx,8)";
  EXPECT_TRUE(ends_in_call_x86(bytes({0xff, 0x54, 0xc8, 8}))) << "call *8(%rax,%rcx,8)";
  EXPECT_TRUE(ends_in_call_x86(bytes({0xff, 0x94, 0xc8, 1, 2, 3, 4})));
  EXPECT_TRUE(ends_in_call_x86(bytes({0xff, 0x14, 0xc5, 1, 2, 3, 4}))) << "call *far(,%rax,8)";
  EXPECT_FALSE(ends_in_call_x86(bytes({0xff, 0x14, 0xc5}))) << "its distance is missing";
  EXPECT_FALSE(ends_in_call_x86(bytes({0xff, 0xe0}))) << "jmp *%rax";
  EXPECT_FALSE(ends_in_call_x86(bytes({0xff, 0xd0, 0x90}))) << "it does not end there";
  EXPECT_FALSE(ends_in_call_x86(bytes({0xfe, 0xd0})));
  EXPECT_FALSE(ends_in_call_x86(bytes({0xff})));
  EXPECT_FALSE(ends_in_call_x86(""));
  EXPECT_TRUE(ends_in_system_call_x86(bytes({0x90, 0x0f, 0x05})));
  EXPECT_FALSE(ends_in_system_call_x86(bytes({0x0f, 0x05, 0x90})));
}

} // namespace
} // namespace ovnitrace
