// SPDX-License-Identifier: BSD-2-Clause
// random_trees SEED TREES CGROUPS: makes trees of processes that fork, exec, rename themselves, set
// their real user, move to CGROUPS/a, a/in or b and to other CPUs. Prints a line after each change:
// "TID BEFORE AFTER NAME UID CGROUP CPU", with the times (ns, CLOCK_MONOTONIC) before and after it;
// AFTER 0: the thread ends. Needs root.
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace {

const char *const kNames[] = {"alpha", "beta", "gamma-1"};
const char *const kCgroups[] = {"a", "a/in", "b"};
constexpr unsigned kSteps = 6, kDepth = 3;

struct State {
  unsigned seed = 0, left = 0, depth = 0;
  std::string cgroups, cgroup = "b";
  int cpu = 0;
};

uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}

[[noreturn]] void fail(const char *what) {
  perror(what);
  _exit(1);
}

/// In one write(), so that lines of several processes do not mix.
void report(uint64_t before, uint64_t after, const State &state) {
  char name[17] = {}, line[256];
  prctl(PR_GET_NAME, name);
  uid_t real, effective, saved;
  getresuid(&real, &effective, &saved);
  const int size = snprintf(line, sizeof line, "%d %llu %llu %s %u %s %d\n", gettid(),
                            (unsigned long long)before, (unsigned long long)after, name, real,
                            state.cgroup.c_str(), state.cpu);
  if (write(STDOUT_FILENO, line, size_t(size)) != size)
    fail("write");
}

void move_to(State &state, const char *cgroup) {
  const std::string path = state.cgroups + "/" + cgroup + "/cgroup.procs";
  const int file = open(path.c_str(), O_WRONLY);
  if (file < 0 || write(file, "0", 1) != 1)
    fail(path.c_str());
  close(file);
  state.cgroup = cgroup;
}

void pin_to(State &state, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    fail("sched_setaffinity");
  state.cpu = cpu;
}

[[noreturn]] void go_on_as_new_program(const State &state, uint64_t before) {
  const std::string text[] = {std::to_string(state.seed), std::to_string(state.left),
                              std::to_string(state.depth), std::to_string(state.cpu),
                              std::to_string(before)};
  execl("/proc/self/exe", "random_trees", "again", text[0].c_str(), text[1].c_str(),
        text[2].c_str(), text[3].c_str(), text[4].c_str(), state.cgroups.c_str(),
        state.cgroup.c_str(), nullptr);
  fail("exec");
}

/// Runs the steps of one process and waits for its children.
[[noreturn]] void live(State state) {
  while (state.left > 0) {
    state.left--;
    std::minstd_rand random(state.seed);
    random.discard(7);
    state.seed = unsigned(random());
    const unsigned what = unsigned(random()) % 7, which = unsigned(random()) % 3;
    const uint64_t before = now();
    switch (what) {
    case 0:
    case 1: {
      if (state.depth == 0)
        continue;
      const pid_t child = fork();
      if (child < 0)
        fail("fork");
      if (child == 0) {
        report(before, now(), state);
        state.seed += 77;
        state.depth--;
        state.left = kSteps;
      }
      continue;
    }
    case 2:
      prctl(PR_SET_NAME, kNames[which]);
      break;
    case 3:
      if (setresuid(1000 + which, 0, 0) != 0)
        fail("setresuid");
      break;
    case 4:
      move_to(state, kCgroups[which]);
      break;
    case 5:
      pin_to(state, int(which) % 2);
      break;
    case 6:
      go_on_as_new_program(state, before);
    }
    report(before, now(), state);
  }
  while (wait(nullptr) > 0)
    ;
  report(now(), 0, state);
  _exit(0);
}

} // namespace

int main(int argc, char **argv) {
  State state;
  if (argc == 9) { // after execve
    state.seed = unsigned(atol(argv[2]));
    state.left = unsigned(atoi(argv[3]));
    state.depth = unsigned(atoi(argv[4]));
    state.cpu = atoi(argv[5]);
    state.cgroups = argv[7];
    state.cgroup = argv[8];
    report(strtoull(argv[6], nullptr, 10), now(), state);
    live(state);
  }
  if (argc != 4)
    return 2;
  state.cgroups = argv[3];
  move_to(state, "b");
  pin_to(state, 0);
  for (int tree = 0; tree < atoi(argv[2]); tree++) {
    state.seed = unsigned(atoi(argv[1]) * 100'000 + tree);
    const uint64_t before = now();
    const pid_t root = fork();
    if (root < 0)
      fail("fork");
    if (root == 0) {
      report(before, now(), state);
      state.left = kSteps;
      state.depth = kDepth;
      live(state);
    }
    waitpid(root, nullptr, 0);
  }
  return 0;
}
