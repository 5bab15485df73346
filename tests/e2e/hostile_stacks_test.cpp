// SPDX-License-Identifier: BSD-2-Clause
// --stacks of programs that make their stacks hard to walk: stack pointers that point anywhere, and
// the map of a JIT compiler that changes while it is read.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <unistd.h>

#include <csignal>
#include <cstring>

namespace ovnitrace::test {

namespace {

/// Blocks with a stack pointer of its own choice, and prints how often it came back. With an
/// argument, without the pointer that is not canonical: there are hypervisors that kill a program
/// for it.
constexpr char kStackPointers[] = R"(
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
extern "C" __attribute__((noipa)) long nap_on(uint64_t stack) {
  static timespec time = {0, 1000000};
  long result = SYS_nanosleep;
  asm volatile("mov %%rsp, %%r12\n mov %[stack], %%rsp\n syscall\n mov %%r12, %%rsp"
               : "+a"(result)
               : "D"(&time), "S"(0L), [stack] "r"(stack)
               : "r12", "rcx", "r11", "memory");
  return result;
}
/// Maps memory, with a page behind it that nobody may read: what lies there would else be read as a
/// return address, and 0 is the end of a stack.
static void *map(size_t size, int protection) {
  char *memory = (char *)mmap(nullptr, size + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory, size, protection);
  return memory;
}
int main(int argc, char **) {
  const size_t size = 1 << 16;
  void *zeros = map(size, PROT_READ | PROT_WRITE), *ones = map(size, PROT_READ | PROT_WRITE);
  void *closed = map(size, PROT_NONE);
  memset(ones, 0xff, size);
  const uint64_t stacks[] = {0, 1, 7, 4096, (uint64_t)zeros, (uint64_t)zeros + 3,
                             (uint64_t)zeros + size - 4, (uint64_t)ones, (uint64_t)ones + size - 8,
                             (uint64_t)closed, 0x7ffffffff000, 0x7ffffffffff8, 0x800000000000,
                             0xffff800000000000, 0xffffffff81000000, 0xffffffffff600000,
                             UINT64_MAX - 7, UINT64_MAX};
  int back = 0;
  for (int n = 0; n < 20; n++)
    for (const uint64_t stack : stacks)
      back += (argc > 1 && stack == 0x800000000000) || nap_on(stack) == 0;
  printf("%d\n", back);
}
)";
constexpr int kNaps = 20 * 18;

/// Blocks in code that it has made itself, and writes the map of that code again and again.
constexpr char kChangingMap[] = R"(
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
int main() {
  const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xb8, 35, 0, 0, 0, 0x0f, 0x05, 0x5d, 0xc3};
  char *page = (char *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, code, sizeof(code));
  const std::string name = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::thread([&] {
    for (unsigned round = 0;; round++) {
      FILE *file = fopen(name.c_str(), round % 3 ? "w" : "r+");
      if (!file)
        continue;
      for (unsigned n = 0; n < 2000; n++)
        fprintf(file, "%lx %x wrong_%u\n", (unsigned long)page + 4096 + n * 16, 16, round);
      fprintf(file, "%lx %x right\n", (unsigned long)page, 64);
      fprintf(file, "%s %lx fff", std::string(round % 5000, 'f').c_str(), (unsigned long)page);
      if (round % 7 == 0)
        fflush(file), (void)!ftruncate(fileno(file), round % 100000);
      fclose(file);
    }
  }).detach();
  puts("runs");
  fflush(stdout);
  const timespec time = {0, 1000000};
  for (;;)
    ((long (*)(const timespec *, void *))page)(&time, nullptr);
}
)";

} // namespace

class HostileStacks : public CaptureTest {
protected:
  std::string compile(const char *source) {
    write_text(path("hostile.cpp"), source);
    const Outcome made =
        run({.argv = {"g++", "-O2", "-pthread", "-o", path("hostile"), path("hostile.cpp")}});
    EXPECT_EQ(made.status(), 0) << made.err;
    return path("hostile");
  }
  /// The folded stacks, with their ns.
  std::vector<std::string> stacks() {
    const Outcome folded =
        run({.argv = {ovnitrace(), "export", "--to", "folded", trace(), "-o", "-", "--force"}});
    EXPECT_EQ(folded.status(), 0) << folded.err;
    return lines_of(folded.out);
  }
};

#if defined(__x86_64__)
TEST_F(HostileStacks, AStackPointerMayPointAnywhere) {
  std::vector<std::string> program = {compile(kStackPointers)};
  if (run({.argv = program}).status() != 0)
    program.push_back("canonical");
  const Outcome outcome = record(program, {"--stacks"});
  EXPECT_EQ(outcome.out, std::to_string(kNaps) + "\n") << "the program is not harmed";
  size_t found = 0;
  for (const std::string &stack : stacks()) {
    if (stack.find("nanosleep") == stack.npos)
      continue;
    found++;
    EXPECT_TRUE(stack.starts_with("hostile;hostile;[frames missing];nap_on;")) << stack;
  }
  EXPECT_GT(found, 0u);
}

TEST_F(HostileStacks, AMapMayChangeWhileItIsRead) {
  Process program({.argv = {compile(kChangingMap)}});
  ASSERT_TRUE(eventually([&] { return program.out() == "runs\n"; }, "it blocks"));
  const std::string pid = std::to_string(program.pid());
  size_t in_code = 0;
  for (int n = 0; n < 3; n++) {
    const Outcome outcome =
        run(record_command(trace(), {}, {"-f", "-p", pid, "-d", "200ms", "--stacks"}));
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
    for (const std::string &stack : stacks()) {
      const bool began_before = stack.starts_with("hostile;hostile;[nanosleep] "); // the capture
      if (stack.find("nanosleep") == stack.npos || began_before)
        continue;
      in_code++;
      const size_t made = stack.find(";main;[frames missing];");
      ASSERT_NE(made, stack.npos) << stack;
      const std::string code = stack.substr(made + strlen(";main;[frames missing];"));
      EXPECT_TRUE(code.starts_with("right;") || code.starts_with("[unknown];")) << stack;
    }
  }
  EXPECT_GT(in_code, 0u);
  kill(program.pid(), SIGKILL);
  program.wait();
  unlink(("/tmp/perf-" + pid + ".map").c_str());
}
#endif

} // namespace ovnitrace::test
