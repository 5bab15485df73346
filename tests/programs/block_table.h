// SPDX-License-Identifier: BSD-2-Clause
// The ways in which the program `blocks` blocks, and what they need.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <poll.h>

#include <string>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

constexpr timespec kLong = {0, 300'000'000}; // of who wakes by itself

[[noreturn]] void fail(const char *what) {
  perror(what);
  exit(1);
}
long must(long result, const char *what) {
  return result < 0 ? fail(what), result : result;
}

template <class... A> long call(long number, A... arguments) {
  return syscall(number, arguments...);
}

/// One way to block: what the thread does, and what ends it.
struct Block {
  const char *thread;
  const char *name;
  long number;
  void (*block)();
  void (*end)();
};

int ends[2]; ///< of a pipe or a pair of sockets
int listener, waiting, file, other_file, queue, semaphore, faults;
pid_t tid, child;
char byte;
uint32_t word;
char *page;
std::string folder;

void open_pipe() {
  must(pipe(ends), "pipe");
}
void write_pipe() {
  must(write(ends[1], &byte, 1), "write");
}
void read_all(int fd) {
  static char buffer[1 << 20];
  must(fcntl(fd, F_SETFL, O_NONBLOCK), "fcntl");
  while (read(fd, buffer, sizeof buffer) > 0) {
  }
}
void drain() {
  read_all(ends[0]);
}
void fill(int fd) {
  static char buffer[4096];
  must(fcntl(fd, F_SETFL, O_NONBLOCK), "fcntl");
  while (write(fd, buffer, sizeof buffer) > 0) {
  }
  while (write(fd, buffer, 1) > 0) {
  }
  must(fcntl(fd, F_SETFL, 0), "fcntl");
}
void open_pair() {
  must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
}
int watch_pipe() {
  const int epoll = int(must(epoll_create1(0), "epoll_create1"));
  epoll_event event = {};
  event.events = EPOLLIN;
  must(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event), "epoll_ctl");
  return epoll;
}
sockaddr_un address() {
  sockaddr_un at = {};
  at.sun_family = AF_UNIX;
  snprintf(at.sun_path, sizeof at.sun_path, "%s/socket", folder.c_str());
  return at;
}
void listen_there() {
  const sockaddr_un at = address();
  unlink(at.sun_path);
  listener = int(must(socket(AF_UNIX, SOCK_STREAM, 0), "socket"));
  must(bind(listener, reinterpret_cast<const sockaddr *>(&at), sizeof at), "bind");
  must(listen(listener, 0), "listen");
}
int connect_there() {
  const sockaddr_un at = address();
  const int fd = int(must(socket(AF_UNIX, SOCK_STREAM, 0), "socket"));
  call(SYS_connect, fd, &at, sizeof at);
  return fd;
}
void open_files() {
  const std::string path = folder + "/lock";
  file = int(must(open(path.c_str(), O_RDWR | O_CREAT, 0600), "open"));
  other_file = int(must(open(path.c_str(), O_RDWR), "open"));
}
void send_signal() {
  call(SYS_tgkill, getpid(), tid, SIGUSR1);
}
void block_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}
void start_child() {
  child = pid_t(must(fork(), "fork"));
  if (child == 0) {
    pause();
    _exit(0);
  }
}
void kill_child() {
  kill(child, SIGKILL);
}
uint64_t no_signals[1] = {};

/// A page that nobody has filled yet.
void open_page() {
  faults = int(must(call(SYS_userfaultfd, O_CLOEXEC), "userfaultfd"));
  uffdio_api api = {};
  api.api = UFFD_API;
  must(ioctl(faults, UFFDIO_API, &api), "UFFDIO_API");
  page = static_cast<char *>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  uffdio_register area = {};
  area.range = {uintptr_t(page), 4096};
  area.mode = UFFDIO_REGISTER_MODE_MISSING;
  must(ioctl(faults, UFFDIO_REGISTER, &area), "UFFDIO_REGISTER");
}
void fill_page() {
  uffdio_zeropage area = {};
  area.range = {uintptr_t(page), 4096};
  must(ioctl(faults, UFFDIO_ZEROPAGE, &area), "UFFDIO_ZEROPAGE");
}

#ifdef SYS_fcntl64
constexpr char kFcntl[] = "fcntl64";
constexpr long kFcntlNumber = SYS_fcntl64;
#else
constexpr char kFcntl[] = "fcntl";
constexpr long kFcntlNumber = SYS_fcntl;
#endif
#ifdef SYS_semtimedop
constexpr char kSemtimedop[] = "semtimedop";
constexpr long kSemtimedopNumber = SYS_semtimedop;
#else
constexpr char kSemtimedop[] = "semtimedop_time64";
constexpr long kSemtimedopNumber = SYS_semtimedop_time64;
#endif

#define CALL(name) #name, SYS_##name
const Block kBlocks[] = {
    {"futex", CALL(futex), [] { call(SYS_futex, &word, FUTEX_WAIT, 0, nullptr, nullptr, 0); },
     [] {
       word = 1;
       call(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
     }},
    {"read", CALL(read), [] { call(SYS_read, ends[0], &byte, 1); }, write_pipe},
    {"write", CALL(write),
     [] {
       fill(ends[1]);
       call(SYS_write, ends[1], &byte, 1);
     },
     drain},
    {"readv", CALL(readv),
     [] {
       iovec to = {&byte, 1};
       call(SYS_readv, ends[0], &to, 1);
     },
     write_pipe},
    {"epoll_pwait", CALL(epoll_pwait),
     [] {
       epoll_event event;
       call(SYS_epoll_pwait, watch_pipe(), &event, 1, -1, nullptr, 8);
     },
     write_pipe},
    {"ppoll", CALL(ppoll),
     [] {
       pollfd fd = {ends[0], POLLIN, 0};
       call(SYS_ppoll, &fd, 1, nullptr, nullptr, 8);
     },
     write_pipe},
    {"pselect6", CALL(pselect6),
     [] {
       fd_set set;
       FD_ZERO(&set);
       FD_SET(ends[0], &set);
       call(SYS_pselect6, ends[0] + 1, &set, nullptr, nullptr, nullptr, nullptr);
     },
     write_pipe},
    {"nanosleep", CALL(nanosleep), [] { call(SYS_nanosleep, &kLong, nullptr); }, [] {}},
    {"clock_nanosleep", CALL(clock_nanosleep),
     [] { call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &kLong, nullptr); }, [] {}},
    {"accept4", CALL(accept4), [] { call(SYS_accept4, listener, nullptr, nullptr, 0); },
     [] { close(connect_there()); }},
    {"connect", CALL(connect),
     [] {
       close(connect_there());
       close(connect_there());
       close(connect_there());
     },
     [] {
       close(accept(listener, nullptr, nullptr));
       close(accept(listener, nullptr, nullptr));
     }},
    {"recvfrom", CALL(recvfrom), [] { call(SYS_recvfrom, ends[0], &byte, 1, 0, nullptr, nullptr); },
     write_pipe},
    {"recvmsg", CALL(recvmsg),
     [] {
       iovec to = {&byte, 1};
       msghdr message = {};
       message.msg_iov = &to;
       message.msg_iovlen = 1;
       call(SYS_recvmsg, ends[0], &message, 0);
     },
     write_pipe},
    {"sendto", CALL(sendto),
     [] {
       fill(ends[1]);
       call(SYS_sendto, ends[1], &byte, 1, 0, nullptr, 0);
     },
     drain},
    {"splice", CALL(splice),
     [] {
       int to[2];
       must(pipe(to), "pipe");
       call(SYS_splice, ends[0], nullptr, to[1], nullptr, 1, 0);
     },
     write_pipe},
    {"wait4", CALL(wait4), [] { call(SYS_wait4, child, nullptr, 0, nullptr); }, kill_child},
    {"waitid", CALL(waitid),
     [] {
       siginfo_t info;
       call(SYS_waitid, P_PID, child, &info, WEXITED, nullptr);
     },
     kill_child},
    {"flock", CALL(flock), [] { call(SYS_flock, file, LOCK_EX); },
     [] { flock(other_file, LOCK_UN); }},
    {"fcntl", kFcntl, kFcntlNumber,
     [] {
       struct flock64 lock = {};
       lock.l_type = F_WRLCK;
       call(kFcntlNumber, file, F_OFD_SETLKW, &lock);
     },
     [] {
       struct flock64 lock = {};
       lock.l_type = F_UNLCK;
       call(kFcntlNumber, other_file, F_OFD_SETLK, &lock);
     }},
    {"msgrcv", CALL(msgrcv),
     [] {
       long message[2];
       call(SYS_msgrcv, queue, message, sizeof(long), 0, 0);
     },
     [] {
       long message[2] = {1, 1};
       msgsnd(queue, message, sizeof(long), 0);
     }},
    {"semtimedop", kSemtimedop, kSemtimedopNumber,
     [] {
       sembuf down = {0, -1, 0};
       call(kSemtimedopNumber, semaphore, &down, 1, nullptr);
     },
     [] {
       sembuf up = {0, 1, 0};
       semop(semaphore, &up, 1);
     }},
    {"mq_timedreceive", CALL(mq_timedreceive),
     [] {
       char text[8192];
       call(SYS_mq_timedreceive, waiting, text, sizeof text, nullptr, nullptr);
     },
     [] { call(SYS_mq_timedsend, waiting, &byte, 1, 0, nullptr); }},
    {"rt_sigtimedwait", CALL(rt_sigtimedwait),
     [] {
       block_signal();
       uint64_t set = 1ull << (SIGUSR1 - 1);
       call(SYS_rt_sigtimedwait, &set, nullptr, nullptr, 8);
     },
     send_signal},
    {"rt_sigsuspend", CALL(rt_sigsuspend),
     [] {
       block_signal();
       call(SYS_rt_sigsuspend, no_signals, 8);
     },
     send_signal},
    {"io_getevents", CALL(io_getevents),
     [] {
       aio_context_t context = 0;
       must(call(SYS_io_setup, 1, &context), "io_setup");
       io_event event;
       call(SYS_io_getevents, context, 1, 1, &event, &kLong);
     },
     [] {}},
#ifdef SYS_poll // not on arm64
    {"epoll_wait", CALL(epoll_wait),
     [] {
       epoll_event event;
       call(SYS_epoll_wait, watch_pipe(), &event, 1, -1);
     },
     write_pipe},
    {"poll", CALL(poll),
     [] {
       pollfd fd = {ends[0], POLLIN, 0};
       call(SYS_poll, &fd, 1, -1);
     },
     write_pipe},
    {"pause", CALL(pause), [] { call(SYS_pause); }, send_signal},
#endif
#if defined(SYS__newselect)
    {"select", CALL(_newselect),
     [] {
       fd_set set;
       FD_ZERO(&set);
       FD_SET(ends[0], &set);
       call(SYS__newselect, ends[0] + 1, &set, nullptr, nullptr, nullptr);
     },
     write_pipe},
#elif defined(SYS_select)
    {"select", CALL(select),
     [] {
       fd_set set;
       FD_ZERO(&set);
       FD_SET(ends[0], &set);
       call(SYS_select, ends[0] + 1, &set, nullptr, nullptr, nullptr);
     },
     write_pipe},
#endif
    {"fault", "none", -1, [] { *page = 1; }, fill_page},
    {"fault_in_read", CALL(read), [] { call(SYS_read, ends[0], page, 1); }, fill_page},
};

} // namespace
