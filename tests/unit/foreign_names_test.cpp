// SPDX-License-Identifier: BSD-2-Clause
// What strangers chose reaches no terminal as a command, and no file that they did not write.
#include "emulator/base/messages.h"
#include "emulator/base/small_file.h"
#include "emulator/format/thread_identity.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace ovnitrace {
namespace {

TEST(ForeignName, MessagesPassNoTerminalCommandsOn) {
  testing::internal::CaptureStderr();
  print("a\x1b[2J {}: {}",
        "\xc2\x9b"
        "31m",
        "b\rc\x7f\x9b");
  print_text("two\nlines of ä");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ovnitrace: a?[2J ??31m: b?c??\novnitrace: two\nlines of ä\n");
}

TEST(ForeignName, NameOfAThreadIsPrintable) {
  ThreadName name;
  const char text[17] = "\xc2\x9b\x1b[m\x9b ä half\xc3";
  for (unsigned part = 0; part < 4; part++) {
    uint32_t four;
    std::memcpy(&four, text + part * 4, 4);
    name.set(part, four);
  }
  EXPECT_EQ(name.text(), "???[m? ä half?");
}

TEST(ForeignFile, IsNotReadThroughALinkUnlessAPersonNamedIt) {
  const std::string directory = testing::TempDir() + "links-" + std::to_string(getpid());
  std::filesystem::create_directory(directory);
  std::ofstream(directory + "/file") << "content";
  std::filesystem::create_symlink(directory + "/file", directory + "/link");
  std::string error;
  EXPECT_EQ(read_small_file(directory + "/file", 100, error, Links::refuse), "content");
  EXPECT_EQ(read_small_file(directory + "/link", 100, error), "content");
  EXPECT_EQ(read_small_file(directory + "/link", 100, error, Links::refuse), std::nullopt);
  EXPECT_NE(error.find("symbolic link"), std::string::npos) << error;
  std::filesystem::remove_all(directory);
}

} // namespace
} // namespace ovnitrace
