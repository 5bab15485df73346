// SPDX-License-Identifier: BSD-2-Clause
// Where libovnitrace saves to: how an address is written, and how the trace file is opened.
#include "tests/unit/support/child_status.h"
#include "tests/unit/support/ftrace_rig.h"

#include <arpa/inet.h>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <malloc.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace ovnitrace::test;

namespace {

constexpr int JTN = FTRACE_CHUNK_FLAG_JTN;

/// An address and port as a socket has them.
std::string text_of(const sockaddr_storage &address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto &v4 = reinterpret_cast<const sockaddr_in &>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return std::string(text) + " " + std::to_string(ntohs(v4.sin_port));
  }
  const auto &v6 = reinterpret_cast<const sockaddr_in6 &>(address);
  inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
  return std::string(text) + " " + std::to_string(ntohs(v6.sin6_port));
}

class FtracePlaces : public FtraceRig {
protected:
  static int send_to(const char *target, int flag = 0, const char *local = nullptr) {
    return FTrace_OSD_init_udp(flag, const_cast<char *>(local), const_cast<char *>(target));
  }
  /// The sender's socket: the only one of this process that is connected by datagrams.
  static int sender() {
    for (int fd = 3; fd < 1000; fd++) {
      sockaddr_storage peer{};
      socklen_t size = sizeof peer, type_size = sizeof(int);
      int type = 0;
      if (getpeername(fd, reinterpret_cast<sockaddr *>(&peer), &size) == 0 &&
          (peer.ss_family == AF_INET || peer.ss_family == AF_INET6) &&
          getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_size) == 0 && type == SOCK_DGRAM)
        return fd;
    }
    return -1;
  }
  static std::string target() {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    getpeername(sender(), reinterpret_cast<sockaddr *>(&peer), &size);
    return text_of(peer);
  }
  static std::string source() {
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    getsockname(sender(), reinterpret_cast<sockaddr *>(&own), &size);
    const std::string text = text_of(own);
    return text.substr(0, text.find(' '));
  }
  /// The descriptor of the trace file, which stays open.
  static int descriptor_of(const std::string &path) {
    struct stat file, open;
    EXPECT_EQ(stat(path.c_str(), &file), 0);
    for (int fd = 3; fd < 1000; fd++)
      if (fstat(fd, &open) == 0 && open.st_ino == file.st_ino && open.st_dev == file.st_dev)
        return fd;
    return -1;
  }
};

TEST_F(FtracePlaces, AnAddressWithoutAPortIsSentToPort20000) {
  ASSERT_EQ(send_to("127.0.0.1"), 0);
  EXPECT_EQ(target(), "127.0.0.1 20000");
  ASSERT_EQ(send_to("[127.0.0.3]"), 0);
  EXPECT_EQ(target(), "127.0.0.3 20000");
}

TEST_F(FtracePlaces, APortFollowsAColon) {
  ASSERT_EQ(send_to("127.0.0.1:1"), 0);
  EXPECT_EQ(target(), "127.0.0.1 1");
  ASSERT_EQ(send_to("[127.0.0.2]:65535"), 0);
  EXPECT_EQ(target(), "127.0.0.2 65535");
  ASSERT_EQ(send_to("127.0.0.1:00080"), 0);
  EXPECT_EQ(target(), "127.0.0.1 80");
}

TEST_F(FtracePlaces, PortsThatDoNotExistAreRefused) {
  for (const char *wrong : {"127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:000080", "127.0.0.1:80x",
                            "127.0.0.1: 80", "[127.0.0.1]:", "[127.0.0.1]:0"})
    EXPECT_EQ(send_to(wrong), FTRACE_E_ADDRESS) << wrong;
}

TEST_F(FtracePlaces, AnAddressOfIpv6NeedsBracketsOnlyForAPort) {
  if (send_to("[::1]:7000") == FTRACE_E_ADDRESS)
    GTEST_SKIP() << "no IPv6 here";
  EXPECT_EQ(target(), "::1 7000");
  ASSERT_EQ(send_to("::1"), 0);
  EXPECT_EQ(target(), "::1 20000");
}

TEST_F(FtracePlaces, TheLocalAddressIsTakenOnlyWithTheFlag) {
  ASSERT_EQ(send_to("127.0.0.1", 1, "127.0.0.2"), 0);
  EXPECT_EQ(source(), "127.0.0.2");
  ASSERT_EQ(send_to("127.0.0.1", 0, "127.0.0.2"), 0);
  EXPECT_EQ(source(), "127.0.0.1");
  ASSERT_EQ(send_to("127.0.0.1", 0, "no address"), 0);
  EXPECT_EQ(send_to("127.0.0.1", 1, "no address"), FTRACE_E_ADDRESS);
}

TEST_F(FtracePlaces, AnAddressLeavesNoMemoryBehind) {
  const auto used = [] {
    for (int n = 0; n < 20; n++)
      EXPECT_EQ(send_to("127.0.0.1", 1, "127.0.0.2"), 0);
    return mallinfo2().uordblks;
  };
  const size_t before = used(); // what the first call keeps is there now
  EXPECT_EQ(used(), before);
}

TEST_F(FtracePlaces, ANewTargetReplacesTheSocketAndCountsFromOne) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const int receiver = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(receiver, reinterpret_cast<sockaddr *>(&address), size), 0);
  ASSERT_EQ(getsockname(receiver, reinterpret_cast<sockaddr *>(&address), &size), 0);
  const std::string target = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  int chunk = start(1, JTN);
  log(1);
  FTrace_disable();
  for (int i = 0; i < 2; i++) {
    ASSERT_EQ(send_to(target.c_str()), 0);
    ASSERT_EQ(FTrace_send_chunk(chunk, 0, JTN), 0);
    unsigned char bytes[200] = {};
    EXPECT_EQ(recv(receiver, bytes, sizeof bytes, MSG_DONTWAIT), 24 + 2 * 16);
    EXPECT_EQ(bytes[12], 1) << "number of the datagram";
  }
  close(receiver);
  const int kept = sender();
  EXPECT_EQ(fcntl(kept, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  for (int fd = kept + 1; fd < 1000; fd++) {
    sockaddr_in peer{};
    socklen_t length = sizeof peer;
    EXPECT_FALSE(getpeername(fd, reinterpret_cast<sockaddr *>(&peer), &length) == 0 &&
                 peer.sin_family == AF_INET && peer.sin_port == address.sin_port)
        << fd;
  }
}

TEST_F(FtracePlaces, TheTraceFileIsForAllToReadAndNoProgramInheritsIt) {
  const mode_t before = umask(0);
  int chunk = start(1, JTN);
  log(1);
  FTrace_disable();
  std::string path = dir_ / "t.dat";
  EXPECT_EQ(FTrace_init_disk_writer(path.data(), 0, nullptr, nullptr), 0);
  EXPECT_EQ(FTrace_send_chunk(chunk, 0, JTN), 0);
  umask(before);
  EXPECT_EQ(int(std::filesystem::status(path).permissions()), 0644);
  const int fd = descriptor_of(path);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);

  std::string other = dir_ / "other.dat";
  EXPECT_EQ(FTrace_init_disk_writer(other.data(), 0, nullptr, nullptr), 0);
  EXPECT_EQ(descriptor_of(path), -1) << "the file before is closed";
}

// Without O_APPEND, the file would have a hole after another program has emptied it.
TEST_F(FtracePlaces, EachChunkIsWrittenAtTheEndOfTheFile) {
  int chunk = start(3, JTN);
  log(1), log(2), log(3);
  FTrace_disable();
  std::string path = dir_ / "t.dat";
  EXPECT_EQ(FTrace_init_disk_writer(path.data(), 0, nullptr, nullptr), 0);
  EXPECT_EQ(FTrace_send_chunk(chunk, 0, JTN), 0);
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(FTrace_send_chunk(chunk, 0, JTN), 0);
  EXPECT_EQ(said(read_records(path)), (std::vector{user(1), user(2), user(3)}));
}

TEST_F(FtracePlaces, ANameMayBeAsLongAsAPath) {
  std::string longest(PATH_MAX - 1, 'x'), longer(PATH_MAX, 'x');
  EXPECT_EQ(FTrace_init_disk_writer(longest.data(), 0, nullptr, nullptr), 0);
  EXPECT_EQ(FTrace_init_disk_writer(longer.data(), 0, nullptr, nullptr), FTRACE_E_ARGUMENT);
}

TEST_F(FtracePlaces, AClockOfNoRateIsNoClock) {
  int chunk = start(2, JTN);
  TRACER_LOGEVENT(FTrace_EVT_cycles_per_msec, 0, 0);
  log(1);
  FTrace_disable();
  std::string path = dir_ / "t.dat";
  EXPECT_EQ(FTrace_init_disk_writer(path.data(), 0, nullptr, nullptr), 0);
  EXPECT_EQ(FTrace_send_chunk(chunk, 0, JTN), 0);
  EXPECT_EQ(said(read_records(path)), (std::vector<Said>{{FTrace_EVT_cycles_per_msec, 0, 1000000},
                                                         {FTrace_EVT_cycles_per_msec, 0, 0},
                                                         user(1)}));
}

// The program's own signal waits while the program blocks it: the writer must not take it away.
TEST_F(FtracePlaces, APendingSignalOfTheProgramStaysWhenAPipeBreaks) {
  std::string path = dir_ / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  sigset_t pipe, before, after, waiting;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigaddset(&pipe, SIGXFSZ);
  pthread_sigmask(SIG_UNBLOCK, &pipe, nullptr); // whatever was sent before this test
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  int chunk = start(1, JTN);
  log(1);
  FTrace_disable();
  ASSERT_EQ(FTrace_init_disk_writer(path.data(), 0, nullptr, nullptr), 0);
  ASSERT_EQ(FTrace_send_chunk(chunk, 0, JTN), 0);
  close(reader);
  EXPECT_EQ(FTrace_send_chunk(chunk, 0, JTN), FTRACE_E_IO);
  sigpending(&waiting);
  EXPECT_FALSE(sigismember(&waiting, SIGPIPE)) << "the writer's own signal is left";
  raise(SIGPIPE);
  raise(SIGXFSZ);
  EXPECT_EQ(FTrace_send_chunk(chunk, 0, JTN), FTRACE_E_IO);
  sigpending(&waiting);
  EXPECT_TRUE(sigismember(&waiting, SIGPIPE)) << "the program's signal is taken away";
  EXPECT_TRUE(sigismember(&waiting, SIGXFSZ));
  const timespec none{0, 0};
  while (sigtimedwait(&pipe, nullptr, &none) > 0)
    ;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(FTrace_send_chunk(chunk, 0, JTN), FTRACE_E_IO);
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int signal : {SIGPIPE, SIGXFSZ})
    EXPECT_FALSE(sigismember(&after, signal)) << "a mask stays";
}

// The first error says that there is no room. But the file ends in a part of a chunk then.
TEST_F(FtracePlaces, AFileThatCannotBeCutIsWrong) {
  std::string path = dir_ / "t.dat";
  const int chunk = start(10'000, JTN);
  for (unsigned n = 0; n < 10'000; n++)
    log(n);
  FTrace_disable();
  ASSERT_EQ(FTrace_init_disk_writer(path.data(), 0, nullptr, nullptr), 0);
  const auto send = [&](bool can_cut) {
    return status_of([&] {
      const rlimit tight = {20'000, 20'000};
      const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
      if (setrlimit(RLIMIT_FSIZE, &tight) != 0 ||
          (!can_cut && (seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ftruncate), 0) ||
                        seccomp_load(filter) != 0)))
        return 99;
      return -FTrace_send_chunk(chunk, 0, JTN);
    });
  };
  EXPECT_EQ(send(true), -FTRACE_E_DISK_FULL);
  EXPECT_EQ(std::filesystem::file_size(path), 0u);
  EXPECT_EQ(send(false), -FTRACE_E_IO);
  EXPECT_EQ(std::filesystem::file_size(path), 20'000u);
}

std::atomic<int> g_handled;

// The write waits for room in the pipe when signals come: first when a part of it is done, then
// when nothing more is.
TEST_F(FtracePlaces, AWriteThatASignalInterruptsGoesOnWhereItStopped) {
  std::string path = dir_ / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const int room = fcntl(reader, F_SETPIPE_SZ, 4096);
  ASSERT_GE(room, 4096);
  struct sigaction action = {}, before;
  action.sa_handler = [](int) { g_handled++; }; // without SA_RESTART
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  g_handled = 0;
  const unsigned events = unsigned(room) / kEvent * 3;
  int chunk = start(int(events), JTN);
  for (unsigned i = 0; i <= events; i++) // one is lost: the emergency area has two events
    log(i);
  FTrace_disable();
  ASSERT_EQ(FTrace_init_disk_writer(path.data(), 0, nullptr, nullptr), 0);
  std::atomic<bool> sent = false;
  std::string bytes;
  std::thread other([&, writer = pthread_self()] {
    for (int waiting = 0; waiting < room && !sent; std::this_thread::yield())
      if (ioctl(reader, FIONREAD, &waiting) != 0)
        break;
    for (int signals = 0; signals < 50; signals++) {
      pthread_kill(writer, SIGUSR1);
      while (g_handled <= signals)
        std::this_thread::yield();
    }
    char part[1000];
    for (bool last = false; !last; std::this_thread::yield()) {
      last = sent;
      for (ssize_t got; (got = read(reader, part, sizeof part)) > 0;)
        bytes.append(part, size_t(got));
    }
  });
  EXPECT_EQ(FTrace_send_chunk(chunk, 0, JTN), 0);
  sent = true;
  other.join();
  close(reader);
  sigaction(SIGUSR1, &before, nullptr);
  ASSERT_EQ(bytes.size(), size_t(kEvent) * (events + 3)) << "with the clock";
  std::vector<ftrace_record> records(events + 3);
  memcpy(records.data(), bytes.data(), bytes.size());
  EXPECT_EQ(said(records[0]), (Said{FTrace_EVT_cycles_per_msec, 0, 1000000}));
  for (unsigned i = 0; i < events; i++)
    ASSERT_EQ(said(records[1 + i]), user(i));
  EXPECT_EQ(said(records[events + 1]), (Said{FTrace_EVT_blackout_start, 0, 0}));
  EXPECT_EQ(said(records[events + 2]), (Said{FTrace_EVT_blackout_end, 0, 1}));
}

TEST_F(FtracePlaces, TheLastErrorIsTheCallingThreadsAndGoneAfterASuccess) {
  create(1, kFree);
  EXPECT_EQ(create(0, kFree), FTRACE_E_SIZE);
  EXPECT_EQ(FTrace_last_error(), FTRACE_E_SIZE);
  std::thread([] { EXPECT_EQ(FTrace_last_error(), FTRACE_OK); }).join();
  EXPECT_EQ(create(1, kFree), 1); // a number above 0 is no error
  EXPECT_EQ(FTrace_last_error(), FTRACE_OK);
}

TEST_F(FtracePlaces, TextsSayTheLimits) {
  EXPECT_STREQ(FTrace_strerror(FTRACE_OK), "no error");
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_SIZE),
               "a chunk needs room for an event, 16 bytes, and for three in its emergency area, 48 "
               "bytes: ask for more");
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_TOO_MANY),
               "there are 256 chunks, which is the most: delete some, or make them larger");
  EXPECT_STREQ(FTrace_strerror(FTRACE_E_FILTER),
               "a filter is one of FTrace_filter_*, 0xF0 to 0xFB, and its status 0 or 1");
}

/// Bytes of address space.
size_t mapped() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * size_t(sysconf(_SC_PAGESIZE));
}

TEST_F(FtracePlaces, DeletingAndCompressingGiveMemoryBack) {
  constexpr int kEvents = 1 << 19, kTimes = 10;
  const size_t before = mapped();
  for (int i = 0; i < kTimes; i++) {
    int chunk = create(kEvents, kFree);
    EXPECT_EQ(FTrace_compress_chunk(chunk, 0), 0);
    EXPECT_EQ(FTrace_set_chunk_flags(chunk, kFree), 0);
    EXPECT_EQ(FTrace_chunk_delete(chunk), 0);
  }
  EXPECT_LT(mapped(), before + size_t(kTimes) * kEvents * kEvent / 2);
}

} // namespace
