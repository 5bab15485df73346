// SPDX-License-Identifier: BSD-2-Clause
// --stacks through code in assembler and of 32 bits: callers cannot be known, and
// the stack says so.
#include "tests/e2e/support/e2e.h"

#include <map>

namespace ovnitrace::test {

namespace {

/// Each thread has the name of the function in assembler through which it blocks.
constexpr char kProgram[] = R"(
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>
#define FUNCTION(name, body)                                                                       \
  asm(".text\n.balign 16\n nop\n nop\n.type " #name ", @function\n" #name ": " body                \
      "\n.size " #name ", . - " #name "\n");                                                       \
  extern "C" void name(void (*f)(), void *top);
// Leaves the stack by rbx, as a coroutine that has ended does.
FUNCTION(aligns, "push %rbx\n mov %rsp, %rbx\n and $-64, %rsp\n call *%rdi\n mov %rbx, %rsp\n"
                 "pop %rbx\n ret")
// Has a name that functions of C libraries have.
FUNCTION(thread_start, "sub $8, %rsp\n call *%rdi\n add $8, %rsp\n ret")
FUNCTION(plain, "sub $8, %rsp\n call *%rdi\n add $8, %rsp\n ret")
// Where a thread could start.
FUNCTION(start, ".cfi_startproc\n.cfi_undefined rip\n call start\n started: nop\n.cfi_endproc")
extern "C" char started[];
// Calls on another stack, on which its own caller is not.
FUNCTION(switches, ".cfi_startproc\n pop %rax\n mov %rsp, %rdx\n mov %rsi, %rsp\n push %rax\n"
                   "push %rdx\n .cfi_def_cfa 7, 16\n .cfi_offset 7, -16\n .cfi_offset 16, -8\n"
                   "call *%rdi\n pop %rdx\n pop %rax\n mov %rdx, %rsp\n jmp *%rax\n.cfi_endproc")
// Has false information: what it pushes looks like the return address, and nothing calls there.
FUNCTION(decoy, ".cfi_startproc\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n returned: nop\n"
                "ret\n.cfi_endproc")
FUNCTION(pushes, ".cfi_startproc\n lea returned(%rip), %rax\n push %rax\n call *%rdi\n"
                 "add $8, %rsp\n ret\n.cfi_endproc")
void nap() {
  const timespec time = {0, 1'000'000};
  nanosleep(&time, nullptr);
  asm volatile("");
}
void spawn() {
  const char *argv[] = {"true", nullptr};
  pid_t child;
  if (posix_spawnp(&child, argv[0], nullptr, nullptr, (char **)argv, environ) == 0)
    waitpid(child, nullptr, 0);
}
__attribute__((noipa)) void call(void (*way)(void (*)(), void *), void (*f)(), void *top) {
  way(f, top);
  asm volatile("");
}
struct Way { const char *name; void (*way)(void (*)(), void *); void (*f)(); };
int main() {
  std::vector<std::thread> threads;
  for (const Way way : {Way{"aligns", aligns, nap}, {"thread_start", thread_start, nap},
                        {"switches", switches, nap}, {"pushes", pushes, nap},
                        {"spawns", plain, spawn}})
    threads.emplace_back([way] {
      prctl(PR_SET_NAME, way.name);
      std::vector<char *> room(16384, started);
      void *top = (void *)((uintptr_t)(room.data() + 16000) & -64);
      for (int n = 0; n < 150; n++)
        call(way.way, way.f, top);
    });
  for (std::thread &thread : threads)
    thread.join();
}
)";

/// Calls the kernel itself, behind three functions.
constexpr char kCallers[] = R"(
__attribute__((noipa)) int nap(void) {
  struct { int seconds, ns; } time = {0, 5000000};
  int result;
  asm volatile("int $0x80" : "=a"(result) : "a"(162), "b"(&time), "c"(0) : "memory");
  return result;
}
__attribute__((noipa)) int inner(void) { int result = nap(); asm volatile(""); return result; }
__attribute__((noipa)) int outer(void) { int result = inner(); asm volatile(""); return result; }
int main(void) {
  for (int n = 0; n < 50; n++)
    outer();
}
)";

} // namespace

class StacksInAssembler : public CaptureTest {};

#if defined(__x86_64__)
TEST_F(StacksInAssembler, ShowThatFramesAreMissing) {
  write_text(path("asm.cpp"), kProgram);
  const std::string compile =
      "cd '" + directory() + "' && g++ -std=c++20 -O2 -pthread -no-pie -o asm asm.cpp";
  const Outcome made = run({.argv = {"sh", "-c", compile}});
  ASSERT_EQ(made.status(), 0) << made.err;
  record({path("asm")}, {"--stacks=user"});
  const Outcome folded =
      run({.argv = {ovnitrace(), "export", "--to", "folded", trace(), "-o", "-"}});
  ASSERT_EQ(folded.status(), 0) << folded.err;
  std::map<std::string, int> found;
  for (const std::string &line : lines_of(folded.out))
    for (const std::string way : {"aligns", "thread_start", "switches", "pushes", "spawns"})
      if (const std::string inner = way == "spawns" ? ";spawn;" : ";nap;";
          line.starts_with("asm;" + way + ";") && line.find(inner) != line.npos) {
        EXPECT_NE(line.find("[frames missing];"), line.npos) << line;
        found[way] +=
            line.find("[frames missing];" + (way == "spawns" ? "plain" : way) + ";") != line.npos ||
            way == "pushes";
      }
  EXPECT_EQ(found.size(), 5u) << folded.out;
  for (const auto &[way, stacks] : found)
    EXPECT_GT(stacks, 0) << way << "\n" << folded.out;
}

/// The kernel follows frame pointers there, and any function can lack one.
TEST_F(StacksInAssembler, OfA32BitProgramShowThatFramesMayBeMissingAnywhere) {
  write_text(path("callers.c"), kCallers);
  const std::string compile =
      "cd '" + directory() + "' && gcc -m32 -O1 -fno-omit-frame-pointer -o callers callers.c";
  if (run({.argv = {"sh", "-c", compile}}).status() != 0)
    GTEST_SKIP() << "gcc cannot compile for 32 bits here";
  if (run({.argv = {"sh", "-c", "exec '" + path("callers") + "'"}}).status() == 126)
    GTEST_SKIP() << "this kernel runs no 32-bit programs";
  record({path("callers")}, {"--stacks=user"});
  const Outcome folded =
      run({.argv = {ovnitrace(), "export", "--to", "folded", trace(), "-o", "-"}});
  EXPECT_NE(folded.out.find("main;[frames missing];outer;[frames missing];inner;[frames missing];"
                            "nap "),
            folded.out.npos)
      << folded.out;
}
#endif

} // namespace ovnitrace::test
