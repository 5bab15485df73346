// SPDX-License-Identifier: BSD-2-Clause
// Blocks on purpose, in one system call after another, each in a thread of its own. Prints a line
// for each:
//   THREAD NAME NUMBER /proc's
// NAME is the system call, from the C library's headers, or none for a page fault. The last word is
// the first of /proc/self/task/TID/syscall while the thread was blocked, or "missed". At the end,
// two threads yield to each other on one CPU. The program is also built static, and for i386.
#include "tests/programs/block_table.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

/// All that a block may need, and that has no thread of its own.
void prepare(const Block &block) {
  const std::string name = block.thread;
  if (name == "recvfrom" || name == "recvmsg" || name == "sendto")
    open_pair();
  else
    open_pipe();
  word = 0;
  if (name == "accept4" || name == "connect")
    listen_there();
  if (name == "wait4" || name == "waitid")
    start_child();
  if (name == "flock")
    open_files(), flock(other_file, LOCK_EX);
  if (name == "fcntl") {
    open_files();
    struct flock64 lock = {};
    lock.l_type = F_WRLCK;
    must(call(kFcntlNumber, other_file, F_OFD_SETLK, &lock), "F_OFD_SETLK");
  }
  if (name == "msgrcv")
    queue = int(must(msgget(IPC_PRIVATE, 0600), "msgget"));
  if (name == "semtimedop")
    semaphore = int(must(semget(IPC_PRIVATE, 1, 0600), "semget"));
  if (name == "mq_timedreceive")
    waiting = int(must(call(SYS_mq_open, "blocks", O_RDWR | O_CREAT, 0600, nullptr), "mq_open"));
  if (name.starts_with("fault"))
    open_page();
  if (name == "fault_in_read")
    write_pipe();
}

void clean_up(const Block &block) {
  const std::string name = block.thread;
  close(ends[0]);
  close(ends[1]);
  if (name == "msgrcv")
    msgctl(queue, IPC_RMID, nullptr);
  if (name == "semtimedop")
    semctl(semaphore, 0, IPC_RMID);
  if (name == "mq_timedreceive")
    call(SYS_mq_unlink, "blocks");
  if (name == "wait4" || name == "waitid")
    waitpid(child, nullptr, WNOHANG);
}

volatile bool started;

void *run(void *argument) {
  const Block &block = *static_cast<const Block *>(argument);
  prctl(PR_SET_NAME, block.thread);
  tid = pid_t(call(SYS_gettid));
  started = true;
  block.block();
  return nullptr;
}

/// /proc's first word, once the thread blocks in what is to come: only there it stays.
std::string look(const Block &block) {
  const std::string path = "/proc/self/task/" + std::to_string(tid) + "/syscall";
  std::string before;
  for (int tries = 0; tries < 1000; tries++) {
    char text[32] = "running";
    if (FILE *in = fopen(path.c_str(), "r")) {
      if (fscanf(in, "%31s", text) != 1)
        strcpy(text, "running");
      fclose(in);
    }
    if (before == text && before == std::to_string(block.number))
      return before;
    before = text;
    usleep(2000);
  }
  return before;
}

std::atomic<int> turns; // how often the other thread was the one that returned from its yield
std::atomic<pid_t> last;

/// Yields until the threads have taken turns. A fair kernel runs the thread that had less of the
/// CPU, and lets its yields return at once.
void *yield(void *) {
  prctl(PR_SET_NAME, "yields");
  for (int n = 0; n < 1'000'000 && turns < 500; n++) {
    call(SYS_sched_yield);
    if (last.exchange(gettid()) != gettid())
      turns++;
  }
  return nullptr;
}

void yield_to_each_other() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof(one), &one);
  pthread_t threads[2];
  for (pthread_t &thread : threads)
    if (pthread_create(&thread, nullptr, yield, nullptr) != 0)
      fail("pthread_create");
  for (const pthread_t thread : threads)
    pthread_join(thread, nullptr);
}

} // namespace

int main() {
  char name[] = "/tmp/blocks.XXXXXX";
  if (!mkdtemp(name))
    fail("mkdtemp");
  folder = name;
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, nullptr);
  for (const Block &block : kBlocks) {
    prepare(block);
    started = false;
    pthread_t thread;
    if (pthread_create(&thread, nullptr, run, const_cast<Block *>(&block)) != 0)
      fail("pthread_create");
    while (!started)
      usleep(1000);
    const std::string seen = look(block);
    block.end();
    pthread_join(thread, nullptr);
    clean_up(block);
    printf("%s %s %ld %s\n", block.thread, block.name, block.number, seen.c_str());
    fflush(stdout);
  }
  unlink((folder + "/socket").c_str());
  unlink((folder + "/lock").c_str());
  rmdir(name);
  yield_to_each_other();
}
