// SPDX-License-Identifier: BSD-2-Clause
// Blocks in many ways and at several depths. For each block it prints when it was, and which of its
// functions were on the stack: "FROM TO main;down_1;way_read". Times are ns of CLOCK_MONOTONIC. It
// does not block anywhere else between FROM and TO.
#include <alloca.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>

namespace {

constexpr long kPause = 2'000'000; // ns
constexpr int kDepths = 5;

std::string path, lines;

uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}

timespec soon() { // of CLOCK_REALTIME
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_nsec += kPause;
  time.tv_sec += time.tv_nsec / 1'000'000'000;
  time.tv_nsec %= 1'000'000'000;
  return time;
}

/// What another process does after a pause.
template <class Action> pid_t later(Action action) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_NAME, "helper");
    const timespec pause = {0, kPause};
    nanosleep(&pause, nullptr);
    action();
    _exit(0);
  }
  return child;
}

void reap(pid_t child) {
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR)
    ;
}

} // namespace

// The call must not be the last thing that the function does.
#define FUNCTION extern "C" __attribute__((noinline)) void
#define STAY asm volatile("" ::: "memory")

#define BLOCK(...)                                                                                 \
  do {                                                                                             \
    const uint64_t from = now();                                                                   \
    __VA_ARGS__;                                                                                   \
    const uint64_t to = now();                                                                     \
    lines += std::to_string(from) + " " + std::to_string(to) + " " + path + ";" + __func__ + "\n"; \
    STAY;                                                                                          \
  } while (false)

namespace {

int ends[2], sockets[2], word;
char buffer[1 << 20];
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
sem_t semaphore;
ucontext_t outside, coroutine;

void empty_pipe() {
  const int flags = fcntl(ends[0], F_GETFL);
  fcntl(ends[0], F_SETFL, flags | O_NONBLOCK);
  while (read(ends[0], buffer, sizeof(buffer)) > 0)
    ;
  fcntl(ends[0], F_SETFL, flags);
}

void write_some() {
  if (write(ends[1], "x", 1) != 1 || send(sockets[1], "x", 1, 0) != 1)
    _exit(1);
}

} // namespace

FUNCTION way_read() {
  const pid_t child = later(write_some);
  BLOCK(word += int(read(ends[0], buffer, 1)));
  word += int(recv(sockets[0], buffer, 1, 0));
  reap(child);
}
FUNCTION way_recv() {
  const pid_t child = later(write_some);
  BLOCK(word += int(recv(sockets[0], buffer, 1, 0)));
  reap(child);
  empty_pipe();
}
FUNCTION way_recvmsg() {
  const pid_t child = later(write_some);
  iovec part = {buffer, 1};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  BLOCK(word += int(recvmsg(sockets[0], &message, 0)));
  reap(child);
  empty_pipe();
}
FUNCTION way_write() {
  const int flags = fcntl(ends[1], F_GETFL);
  fcntl(ends[1], F_SETFL, flags | O_NONBLOCK);
  while (write(ends[1], buffer, 4096) > 0)
    ;
  fcntl(ends[1], F_SETFL, flags);
  const pid_t child = later(empty_pipe); // not before the pipe is full
  BLOCK(word += int(write(ends[1], buffer, 4096)));
  reap(child);
  empty_pipe();
}
FUNCTION way_poll() {
  BLOCK(word += poll(nullptr, 0, 2));
}
FUNCTION way_ppoll() {
  const timespec time = {0, kPause};
  BLOCK(word += ppoll(nullptr, 0, &time, nullptr));
}
FUNCTION way_select() {
  timeval time = {0, kPause / 1000};
  BLOCK(word += select(0, nullptr, nullptr, nullptr, &time));
}
FUNCTION way_pselect() {
  const timespec time = {0, kPause};
  BLOCK(word += pselect(0, nullptr, nullptr, nullptr, &time, nullptr));
}
FUNCTION way_epoll() {
  const int set = epoll_create1(0);
  epoll_event event;
  BLOCK(word += epoll_wait(set, &event, 1, 2));
  close(set);
}
FUNCTION way_nanosleep() {
  const timespec time = {0, kPause};
  BLOCK(word += nanosleep(&time, nullptr));
}
FUNCTION way_clock_nanosleep() {
  const timespec time = {0, kPause};
  BLOCK(word += clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr));
}
FUNCTION way_usleep() {
  BLOCK(word += usleep(kPause / 1000));
}
FUNCTION way_mutex() {
  pthread_mutex_lock(&mutex);
  const timespec time = soon();
  BLOCK(word += pthread_mutex_timedlock(&mutex, &time));
  pthread_mutex_unlock(&mutex);
}
FUNCTION way_condition() {
  pthread_mutex_lock(&mutex);
  const timespec time = soon();
  BLOCK(word += pthread_cond_timedwait(&condition, &mutex, &time));
  pthread_mutex_unlock(&mutex);
}
FUNCTION way_semaphore() {
  const timespec time = soon();
  BLOCK(word += sem_timedwait(&semaphore, &time));
}
FUNCTION way_join() {
  pthread_t thread;
  const auto sleep = [](void *) -> void * {
    prctl(PR_SET_NAME, "helper");
    usleep(kPause / 1000);
    return nullptr;
  };
  pthread_create(&thread, nullptr, sleep, nullptr);
  BLOCK(word += pthread_join(thread, nullptr));
}
FUNCTION way_wait() {
  later([] {});
  BLOCK(word += wait(nullptr));
}
FUNCTION way_waitid() {
  const pid_t child = later([] {});
  siginfo_t info;
  BLOCK(word += waitid(P_PID, id_t(child), &info, WEXITED));
}
FUNCTION way_msgrcv() {
  const int queue = msgget(IPC_PRIVATE, 0600);
  const pid_t child = later([&] {
    const struct {
      long type;
      char text[1];
    } message = {1, {}};
    msgsnd(queue, &message, 1, 0);
  });
  BLOCK(word += int(msgrcv(queue, buffer, 1, 0, 0)));
  reap(child);
  msgctl(queue, IPC_RMID, nullptr);
}
FUNCTION way_semop() {
  const int set = semget(IPC_PRIVATE, 1, 0600);
  sembuf down = {0, -1, 0};
  const timespec time = {0, kPause};
  BLOCK(word += semtimedop(set, &down, 1, &time));
  semctl(set, 0, IPC_RMID);
}
FUNCTION way_sigtimedwait() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  const timespec time = {0, kPause};
  BLOCK(word += sigtimedwait(&set, nullptr, &time));
}
FUNCTION way_flock() {
  char name[] = "/tmp/call_paths.XXXXXX";
  const int file = mkstemp(name), other = open(name, O_RDWR);
  unlink(name);
  int locked[2];
  if (pipe(locked) != 0)
    _exit(1);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_NAME, "helper");
    lockf(other, F_LOCK, 0);
    word += int(write(locked[1], "x", 1));
    usleep(kPause / 1000);
    _exit(0);
  }
  word += int(read(locked[0], buffer, 1));
  BLOCK(word += lockf(file, F_LOCK, 0));
  reap(child);
  for (const int fd : {file, other, locked[0], locked[1]})
    close(fd);
}
FUNCTION way_timerfd() {
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  const itimerspec time = {{}, {0, kPause}};
  timerfd_settime(timer, 0, &time, nullptr);
  BLOCK(word += int(read(timer, buffer, 8)));
  close(timer);
}
FUNCTION way_eventfd() {
  const int counter = eventfd(0, 0);
  const pid_t child = later([&] { eventfd_write(counter, 1); });
  BLOCK(word += int(read(counter, buffer, 8)));
  reap(child);
  close(counter);
}
FUNCTION way_large_frame() {
  char large[12000];
  memset(large, 1, sizeof(large));
  BLOCK(word += usleep(kPause / 1000) + large[word & 1023]);
}
FUNCTION way_aligned_frame() {
  alignas(64) char aligned[192];
  memset(aligned, 1, sizeof(aligned));
  asm volatile("" ::"r"(aligned) : "memory");
  BLOCK(word += usleep(kPause / 1000) + aligned[word & 127]);
}
FUNCTION way_variable_frame() {
  auto *variable = static_cast<char *>(alloca(size_t(word & 511) + 64));
  memset(variable, 1, 64);
  asm volatile("" ::"r"(variable) : "memory");
  BLOCK(word += usleep(kPause / 1000) + variable[5]);
}

namespace {

/// Runs a function of the program from a function of libc, or of none, in between.
void through(const char *who, void (*call)()) {
  const std::string before = path;
  path += std::string(";") + who;
  call();
  path = before;
}

} // namespace

FUNCTION on_signal(int) {
  BLOCK(word += usleep(kPause / 1000));
}
FUNCTION way_signal() {
  through("way_signal", [] { raise(SIGUSR1); });
  STAY;
}
FUNCTION way_signal_stack() {
  static char other[65536];
  stack_t stack = {other, 0, sizeof(other)}, none = {nullptr, SS_DISABLE, 0};
  sigaltstack(&stack, nullptr);
  through("way_signal_stack", [] { raise(SIGRTMIN); });
  sigaltstack(&none, nullptr);
  STAY;
}
extern "C" __attribute__((noinline)) int compare(const void *, const void *) {
  BLOCK(word += usleep(kPause / 1000));
  return 0;
}
FUNCTION way_qsort() {
  char two[2] = {};
  const std::string before = path;
  path += ";way_qsort";
  qsort(two, 2, 1, compare);
  path = before;
  STAY;
}
FUNCTION in_coroutine() {
  BLOCK(word += usleep(kPause / 1000));
}
FUNCTION way_coroutine() {
  static char stack[65536];
  const std::string before = std::exchange(path, "");
  getcontext(&coroutine);
  coroutine.uc_stack.ss_sp = stack;
  coroutine.uc_stack.ss_size = sizeof(stack);
  coroutine.uc_link = &outside;
  makecontext(&coroutine, in_coroutine, 0);
  swapcontext(&outside, &coroutine);
  path = before;
  STAY;
}

/// A page of its frame was never used, so that a stack that is copied has a hole.
FUNCTION in_new_thread() {
  char large[20000];
  asm volatile("" ::"r"(large) : "memory");
  BLOCK(word += usleep(kPause / 1000));
}
FUNCTION way_hole() {
  static volatile bool done;
  const std::string before = std::exchange(path, "");
  done = false;
  const auto run = [](void *) -> void * {
    in_new_thread();
    done = true;
    return nullptr;
  };
  pthread_t thread;
  pthread_create(&thread, nullptr, run, nullptr);
  while (!done)
    sched_yield();
  pthread_join(thread, nullptr);
  path = before;
  STAY;
}

using Way = void();
static Way *const kWays[] = {way_read,         way_recv,          way_recvmsg,         way_write,
                             way_poll,         way_ppoll,         way_select,          way_pselect,
                             way_epoll,        way_nanosleep,     way_clock_nanosleep, way_usleep,
                             way_mutex,        way_condition,     way_semaphore,       way_join,
                             way_wait,         way_waitid,        way_msgrcv,          way_semop,
                             way_sigtimedwait, way_flock,         way_timerfd,         way_eventfd,
                             way_large_frame,  way_aligned_frame, way_variable_frame,  way_signal,
                             way_signal_stack, way_qsort,         way_coroutine,       way_hole};

extern "C" void down_1(Way *, int);
extern "C" void down_2(Way *, int);

/// Some of them use the frame pointer as any other register, or push what they keep.
#define DOWN(name, next, ...)                                                                      \
  FUNCTION name(Way *way, int depth) {                                                             \
    __VA_ARGS__;                                                                                   \
    const std::string before = path;                                                               \
    path += ";" #name;                                                                             \
    if (depth > 1)                                                                                 \
      next(way, depth - 1);                                                                        \
    else                                                                                           \
      way();                                                                                       \
    path = before;                                                                                 \
    STAY;                                                                                          \
  }
DOWN(down_3, down_1, char some[200]; memset(some, 1, 200); asm volatile("" ::"r"(some) : "memory"))
DOWN(down_2, down_3, )
DOWN(down_1, down_2, long keep = word; asm volatile("" : "+r"(keep)))

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  lines.reserve(1 << 20);
  if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
    return 1;
  sem_init(&semaphore, 0, 0);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigaction(SIGUSR1, &action, nullptr);
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGRTMIN, &action, nullptr);
  for (int round = 0; round < rounds; round++)
    for (Way *way : kWays)
      for (int depth = 1; depth <= kDepths; depth++) {
        path = "main";
        down_1(way, depth);
      }
  fputs(lines.c_str(), stdout);
}
