// SPDX-License-Identifier: BSD-2-Clause
// The whole of --control on a small program: commands, a probe and counted instructions.
#include "emulator/base/error.h"
#include "emulator/base/unique_fd.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/waiting_program.h"
#include "user/bpf/capture.h"
#include "user/control/controller.h"
#include "user/control/image.h"
#include "user/probe/mapped_files.h"

#include <fmt/format.h>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <poll.h>
#include <set>
#include <sstream>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

namespace ovnitrace::control {
namespace {

/// For each byte it calls `tell` once, executes some hundred instructions, and writes the byte.
constexpr const char *kProgram = R"(
.text
.globl _start
_start: xor %eax, %eax
  xor %edi, %edi
  lea byte(%rip), %rsi
  mov $1, %edx
  syscall
  call tell
  mov $200, %ecx
again: dec %ecx
  jnz again
  mov $1, %eax
  mov $1, %edi
  lea byte(%rip), %rsi
  mov $1, %edx
  syscall
  jmp _start
.type tell, @function
tell: nop
  ret
.size tell, 2
.data
byte: .quad 0
.section .note.GNU-stack,"",@progbits
)";

// One test, because loading the programs takes more than a second.
TEST(ControlController, AnswersCountsAndEndsTheProgram) {
  test::TempDir dir;
  std::ofstream(dir / "app.s") << kProgram;
  const std::string build = "gcc -static-pie -nostdlib " + dir / "app.s" + " -o " + dir / "app";
  ASSERT_EQ(std::system(build.c_str()), 0) << build;
  test::WaitingProgram program(dir / "app");
  const std::string pid = std::to_string(program.pid());
  uint64_t tell = 0; // in this process
  for (const MappedFile &file : mapped_files(program.pid()))
    if (const auto image = read_image(file.path, file.fd.get()))
      for (const uint64_t address : find_functions(*image, "tell", Naming::bare))
        tell = file.address - file.offset + *image->offset_of(address);
  std::optional<Capture> capture;
  try {
    capture.emplace(CaptureParameters{.targets = {program.pid()}, .regions = true});
  } catch (const ovnitrace::Error &error) {
    GTEST_SKIP() << "needs BPF: " << error.what();
  }
  capture->attach();
  testing::internal::CaptureStderr();
  {
    Controller controller(
        make_plan({"start:interactive:count2,stop:interactive,name:user",
                   "threadid:enter_func:tell:count2,name:probed", "threadid:icount:700",
                   fmt::format("threadid:address:{:#x}:count2,name:at", tell)}),
        *capture, false, false);
    controller.attach("", Identity(), {program.pid()});
    capture->snapshot();
    controller.end_program_after_chains(UniqueFd(int(syscall(SYS_pidfd_open, program.pid(), 0))));
    controller.start({program.pid()});
    controller.begin_living();
    EXPECT_EQ(controller.ask("status"), "ok\nprocess " + pid + ": in no region\n");
    EXPECT_EQ(controller.ask("stop"), "error\nno thread waits for stop:interactive now\n");
    EXPECT_EQ(controller.ask("start"), "ok\nstart:interactive:count2: 1 of 2\n");
    EXPECT_EQ(controller.ask("start"), "ok\n");
    const std::string status = controller.ask("status"),
                      inside = "ok\nprocess " + pid + ": in a region since ";
    EXPECT_EQ(status.substr(0, inside.size()), inside);
    EXPECT_TRUE(status.ends_with(" s\n")) << status;
    EXPECT_EQ(controller.ask("stop"), "ok\n");
    EXPECT_EQ(controller.ask("start"), "error\nno thread waits for start:interactive now\n");
    EXPECT_EQ(controller.ask("status"), "ok\nprocess " + pid + ": in no region\n");
    EXPECT_TRUE(program.turn());
    controller.ask("status"); // the messages before it have been taken
    EXPECT_FALSE(controller.ended_program());
    program.turn();
    EXPECT_EQ(program.end_within_a_minute(), SIGTERM) << "all chains have finished";
    EXPECT_TRUE(controller.ended_program());
    controller.detach();
    EXPECT_EQ(controller.ask("status"), "error\nthe capture has ended\n");
  }
  std::istringstream text(testing::internal::GetCapturedStderr());
  std::set<std::string> lines;
  for (std::string line; std::getline(text, line);)
    lines.insert(line);
  const std::string start = "ovnitrace: --control: chain ", end = " has finished in thread " + pid;
  EXPECT_EQ(lines,
            (std::set<std::string>{start + "user" + end, start + "probed" + end,
                                   start + "threadid:icount:700" + end, start + "at" + end}));
}

} // namespace
} // namespace ovnitrace::control

#endif
