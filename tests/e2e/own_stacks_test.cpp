// SPDX-License-Identifier: BSD-2-Clause
// --stacks of a program that blocks in many ways and writes down its own stack.
#include "tests/e2e/support/e2e.h"

#include <regex>

namespace ovnitrace::test {

namespace {

/// Each thread has the name of its way to block. Prints the functions on its stack that have an
/// object `Here`, from the outermost inward, as "way f_outer;f_inner".
constexpr char kProgram[] = R"(
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>
thread_local std::vector<const char *> stack;
thread_local bool printed;
thread_local const char *way;
struct Here {
  Here(const char *function) { stack.push_back(function); }
  ~Here() { stack.pop_back(); }
};
#define HERE const Here here(__func__)
void print() {
  if (printed)
    return;
  printed = true;
  std::string text = way;
  for (size_t n = 0; n < stack.size(); n++)
    text += (n ? ";" : " ") + std::string(stack[n]);
  puts(text.c_str());
}
void nap() {
  print();
  const timespec time = {0, 2'000'000};
  nanosleep(&time, nullptr);
}
inline __attribute__((always_inline)) void f_inlined() { HERE; nap(); asm volatile(""); }
void f_plain() { HERE; f_inlined(); }
void f_recursive(int n) { HERE; n ? f_recursive(n - 1) : nap(); asm volatile(""); }
void f_deep() { HERE; f_recursive(60); }
void f_lambda() {
  HERE;
  const auto lambda = [] { f_inlined(); };
  lambda();
}
thread_local bool napped;
int f_compare(const void *, const void *) {
  HERE;
  if (!std::exchange(napped, true))
    nap();
  return 0;
}
void f_sort() { HERE; int values[] = {2, 1}; napped = false; qsort(values, 2, 4, f_compare); }
struct Cleanup { ~Cleanup() { f_cleanup(); } void f_cleanup() { HERE; nap(); asm volatile(""); } };
__attribute__((noinline)) void f_throw(int n) { HERE; Cleanup cleanup; if (n) throw n; }
void f_unwind() { HERE; try { f_throw(1); } catch (int) {} }
void f_catch() { HERE; try { throw 1; } catch (int) { f_inlined(); } }
__attribute__((noinline)) void f_use(char *room) {
  HERE;
  asm volatile("" : : "r"(room) : "memory");
  nap();
}
volatile int size = 300;
void f_variable() { HERE; char room[size]; f_use(room); asm volatile(""); }
void f_large() { HERE; char room[100000]; f_use(room); asm volatile(""); }
__attribute__((force_align_arg_pointer, noinline)) void f_aligned() {
  HERE;
  alignas(64) char room[64];
  f_use(room);
  asm volatile("");
}
void f_handler(int) { HERE; nap(); }
void f_signal() { HERE; syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1); asm volatile(""); }
void f_own_stack() {
  HERE;
  static thread_local std::vector<char> room(1 << 16);
  const stack_t other = {room.data(), 0, room.size()};
  sigaltstack(&other, nullptr);
  syscall(SYS_tgkill, getpid(), gettid(), SIGUSR2);
}
thread_local ucontext_t outside, inside;
void f_coroutine() { HERE; f_inlined(); }
void f_switch() {
  static thread_local std::vector<char> room(1 << 16);
  getcontext(&inside);
  inside.uc_stack.ss_sp = room.data();
  inside.uc_stack.ss_size = room.size();
  inside.uc_link = &outside;
  makecontext(&inside, f_coroutine, 0);
  swapcontext(&outside, &inside);
}
void f_vfork() {
  HERE;
  print();
  if (vfork() == 0) {
    const timespec time = {0, 2'000'000};
    nanosleep(&time, nullptr);
    _exit(0);
  }
  asm volatile("");
}
void f_spawn() { HERE; print(); (void)!system("sleep 0.002"); }
int main() {
  struct sigaction action = {};
  action.sa_handler = f_handler;
  sigaction(SIGUSR1, &action, nullptr);
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, nullptr);
  setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::pair<const char *, void (*)()> ways[] = {
      {"plain", f_plain}, {"deep", f_deep}, {"lambda", f_lambda}, {"sort", f_sort},
      {"unwind", f_unwind}, {"catch", f_catch}, {"variable", f_variable}, {"large", f_large},
      {"aligned", f_aligned}, {"signal", f_signal}, {"own_stack", f_own_stack},
      {"coroutine", f_switch}, {"vfork", f_vfork}, {"spawn", f_spawn}};
  std::vector<std::thread> threads;
  for (const auto &[name, run] : ways)
    threads.emplace_back([name, run] {
      prctl(PR_SET_NAME, way = name);
      for (int n = 0; n < 150; n++)
        run();
    });
  for (std::thread &thread : threads)
    thread.join();
}
)";

/// Stops where the handler of a signal is about to start, behind the last byte of `before`. A child
/// process sends the signals while the program waits for it in vfork(), which no signal interrupts.
constexpr char kStopsInHandler[] = R"(
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
asm(".text\n"
    ".type before, @function\n before: .cfi_startproc\n nop\n nop\n .cfi_endproc\n"
    ".size before, . - before\n"
    ".type handler, @function\n handler: .cfi_startproc\n ret\n .cfi_endproc\n"
    ".size handler, . - handler\n");
extern "C" void handler(int);
int main() {
  const pid_t program = getpid();
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
      usleep(20000), kill(program, SIGCONT);
  }
  signal(SIGUSR1, handler);
  for (int n = 0; n < 30; n++) {
    const pid_t child = vfork();
    if (child == 0) {
      kill(program, SIGUSR1);
      kill(program, SIGSTOP);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
}
)";

} // namespace

class OwnStacks : public CaptureTest {
protected:
  std::string compile(const char *source, const std::string &flags) {
    write_text(path("own.cpp"), source);
    const std::string command =
        "cd '" + directory() + "' && g++ -std=c++20 -g -pthread " + flags + " -o own own.cpp";
    const Outcome made = run({.argv = {"sh", "-c", command}});
    EXPECT_EQ(made.status(), 0) << made.err;
    return path("own");
  }
  std::vector<std::string> folded() {
    const Outcome folded =
        run({.argv = {ovnitrace(), "export", "--to", "folded", trace(), "-o", "-"}});
    EXPECT_EQ(folded.status(), 0) << folded.err;
    return lines_of(folded.out);
  }
  /// Records the program, and compares each stack with what the program has written down.
  void expect_own_stacks(const std::string &flags) {
    const Outcome recorded = record({compile(kProgram, flags)}, {"--stacks=user"});
    std::map<std::string, std::string> own; // by thread
    for (const std::string &line : lines_of(recorded.out))
      if (const size_t blank = line.find(' '); blank != line.npos)
        own[line.substr(0, blank)] = line.substr(blank + 1);
    EXPECT_EQ(own.size(), 14u) << recorded.out;
    std::map<std::string, uint64_t> equal, missing, all; // ns, by thread
    for (const std::string &line : folded()) {
      std::smatch parts;
      ASSERT_TRUE(std::regex_match(line, parts, std::regex("[^;]*;([^;]*);(.*) ([0-9]+)"))) << line;
      const std::string thread = parts[1], stack = ";" + parts[2].str() + ";";
      const uint64_t ns = std::stoull(parts[3]);
      if (!own.contains(thread) || stack == ";[waiting for a CPU];")
        continue;
      all[thread] += ns;
      if (stack.find("[frames missing]") != stack.npos) {
        missing[thread] += ns;
        continue;
      }
      std::string functions;
      const std::regex name("(f_[a-z_]+|Cleanup::(f_cleanup));");
      for (std::sregex_iterator at(stack.begin(), stack.end(), name), end; at != end; ++at)
        if (stack[size_t(at->position()) - 1] == ';')
          functions += (functions.empty() ? "" : ";") + (at->length(2) ? at->str(2) : at->str(1));
      // A thread can also wait in an outer function, or before it calls one.
      const bool outer =
          functions.empty() ? stack.find(";start_thread;") != stack.npos : functions == "f_switch";
      const bool begins = outer || (own[thread] + ";").starts_with(functions + ";");
      EXPECT_TRUE(begins) << own[thread] << "\n" << line;
      if (functions == own[thread])
        equal[thread] += ns;
    }
    for (const auto &[thread, functions] : own) {
      EXPECT_GT(equal[thread], all[thread] / 2) << flags << ": " << thread << " " << functions;
      EXPECT_LT(missing[thread], all[thread] / 2) << flags << ": " << thread;
    }
  }
};

#if defined(__x86_64__)
TEST_F(OwnStacks, AreThoseThatTheProgramHasWrittenDown) {
  expect_own_stacks("-O0");
}

TEST_F(OwnStacks, AreTheSameWithoutFramePointers) {
  expect_own_stacks("-O2 -fomit-frame-pointer");
}

TEST_F(OwnStacks, AreTheSameInAStaticProgram) {
  expect_own_stacks("-O3 -static -fno-omit-frame-pointer");
}

TEST_F(OwnStacks, AHandlerThatHasNotStartedIsNotTheFunctionBeforeIt) {
  record({compile(kStopsInHandler, "-O1")}, {"--stacks=user"});
  size_t found = 0;
  for (const std::string &stack : folded()) {
    EXPECT_EQ(stack.find(";before"), stack.npos) << stack;
    found += stack.find(";__restore_rt;handler ") != stack.npos;
  }
  EXPECT_GT(found, 0u);
}
#endif

} // namespace ovnitrace::test
