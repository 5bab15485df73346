// SPDX-License-Identifier: BSD-2-Clause
// Saving chunks of libovnitrace: the disk writer, datagrams, compression, and what goes wrong.
#include "tests/unit/support/ftrace_rig.h"

#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <numeric>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace ovnitrace::test;

namespace {

constexpr int CYC = FTRACE_CHUNK_FLAG_CYC, JTN = FTRACE_CHUNK_FLAG_JTN,
              FULL = FTRACE_CHUNK_FLAG_FULL, NODEL = FTRACE_CHUNK_FLAG_NODEL,
              COMPR = FTRACE_CHUNK_FLAG_COMPR;

const Said kClock{FTrace_EVT_cycles_per_msec, 0, 1000000};

using Saids = std::vector<Said>;

uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}

/// An event, and between which times it was logged.
struct Logged {
  Said said;
  uint64_t from, to;
};
using Events = std::vector<Logged>;

Events operator+(Events events, const Events &others) {
  events.insert(events.end(), others.begin(), others.end());
  return events;
}

/// The record with the rate of the clock: at the time of an event, the first of its chunk.
Events clock_at(const Logged &first) {
  return {{kClock, first.from, first.to}};
}

void expect_saved(const std::vector<ftrace_record> &records, const Events &events) {
  ASSERT_EQ(records.size(), events.size());
  for (size_t i = 0; i < records.size(); i++) {
    EXPECT_EQ(said(records[i]), events[i].said) << i;
    EXPECT_GE(ftrace_record_tsc(&records[i]), events[i].from) << i;
    EXPECT_LE(ftrace_record_tsc(&records[i]), events[i].to) << i;
  }
}

/// With their times, to be compared.
std::string bytes_of(const std::vector<ftrace_record> &records) {
  return {reinterpret_cast<const char *>(records.data()), records.size() * sizeof records[0]};
}

class FtraceSave : public FtraceRig {
protected:
  /// A chunk with events 1 to `count`, and tracing disabled.
  int filled(int events, unsigned count, int mode = JTN) {
    int chunk = start(events, mode);
    logged_[chunk].clear();
    for (unsigned i = 1; i <= count; i++) {
      const uint64_t before = now();
      log(i);
      logged_[chunk].push_back({user(i), before, now()});
    }
    FTrace_disable();
    return chunk;
  }
  /// What filled() logged into the chunk.
  const Events &events_of(int chunk) { return logged_.at(chunk); }
  std::string writer(const std::string &name) {
    std::string path = dir_ / name;
    EXPECT_EQ(FTrace_init_disk_writer(path.data(), 0, nullptr, nullptr), 0);
    return path;
  }

private:
  std::map<int, Events> logged_;
};

TEST_F(FtraceSave, ChunkAfterChunkInTheOrderOfSending) {
  int a = filled(2, 2), b = filled(2, 1);
  std::string path = writer("t.dat");
  EXPECT_FALSE(std::filesystem::exists(path)); // not before a chunk is sent
  EXPECT_EQ(FTrace_send_chunk(b, 0, kFree), 0);
  const Events first = clock_at(events_of(b)[0]) + events_of(b);
  expect_saved(read_records(path), first); // at once
  EXPECT_EQ(FTrace_send_chunk(a, 0, kFree), 0);
  expect_saved(read_records(path), first + events_of(a));
  EXPECT_EQ(FTrace_send_chunk(a, 0, kFree), 0); // empty now
  EXPECT_EQ(read_records(path).size(), 4u);
}

TEST_F(FtraceSave, TheClockRecordIsWrittenOnceWithTheTimeOfTheFirstEvent) {
  int chunk = filled(2, 3, CYC);
  std::string path = writer("t.dat");
  EXPECT_EQ(FTrace_send_chunk(chunk, 0, CYC), 0);
  auto records = read_records(path);
  const Events logged = events_of(chunk); // the first one is overwritten
  expect_saved(records, clock_at(logged[1]) + Events{logged[2], logged[1]});
  EXPECT_EQ(ftrace_record_tsc(&records[0]), ftrace_record_tsc(&records[2]));

  chunk = start(4, JTN);
  TRACER_LOGEVENT(FTrace_EVT_cycles_per_msec, 0, FTrace_clk_per_msec());
  log(1);
  FTrace_disable();
  path = writer("own.dat");
  EXPECT_EQ(FTrace_send_chunk(chunk, 0, CYC), 0);
  EXPECT_EQ(said(read_records(path)), (Saids{kClock, user(1)}));
}

TEST_F(FtraceSave, AnInitializedWriterEmptiesTheFileOnce) {
  int a = filled(2, 2);
  std::string path = dir_ / "t.dat";
  std::ofstream(path) << "what was there before, and is longer than a few records of 16 bytes each";
  writer("t.dat");
  EXPECT_GT(std::filesystem::file_size(path), 60u);
  EXPECT_EQ(FTrace_send_chunk(a, 0, JTN), 0);
  EXPECT_EQ(FTrace_send_chunk(a, 0, JTN), 0);
  expect_saved(read_records(path), clock_at(events_of(a)[0]) + events_of(a) + events_of(a));
}

TEST_F(FtraceSave, ASymbolicLinkIsNotFollowed) {
  int chunk = filled(2, 2);
  std::string target = dir_ / "target", link = writer("link.dat");
  std::ofstream(target) << "mine";
  ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
  EXPECT_EQ(FTrace_send_chunk(chunk, 0, kFree), FTRACE_E_OPEN);
  EXPECT_EQ(std::filesystem::file_size(target), 4u);
  EXPECT_EQ(status(chunk).events, 2u); // nothing lost
}

TEST_F(FtraceSave, WrongNames) {
  char empty[] = "";
  std::string endless(5000, 'x');
  EXPECT_EQ(FTrace_init_disk_writer(nullptr, 0, nullptr, nullptr), FTRACE_E_ARGUMENT);
  EXPECT_EQ(FTrace_init_disk_writer(empty, 0, nullptr, nullptr), FTRACE_E_ARGUMENT);
  EXPECT_EQ(FTrace_init_disk_writer(endless.data(), 0, nullptr, nullptr), FTRACE_E_ARGUMENT);
  int chunk = filled(2, 2);
  writer("no/such/directory.dat");
  EXPECT_EQ(FTrace_send_chunk(chunk, 0, kFree), FTRACE_E_OPEN);
  EXPECT_EQ(status(chunk).events, 2u);
}

TEST_F(FtraceSave, AFullDiskLosesNothingAndLeavesWholeChunks) {
  int small = filled(10, 10), large = filled(10000, 10000);
  std::string path = writer("t.dat");
  ASSERT_EQ(FTrace_send_chunk(small, 0, kFree | JTN), 0);
  const Events before = clock_at(events_of(small)[0]) + events_of(small);

  rlimit limit, tight{20000, RLIM_INFINITY};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  tight.rlim_max = limit.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const int error = FTrace_send_chunk(large, 0, kFree | JTN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);

  EXPECT_EQ(error, FTRACE_E_DISK_FULL);
  expect_saved(read_records(path), before);
  EXPECT_EQ(flags_of(large), JTN | FULL);
  EXPECT_EQ(FTrace_send_chunk(large, 0, kFree | JTN), 0); // room again
  expect_saved(read_records(path), before + events_of(large));
}

TEST_F(FtraceSave, TheClockRecordIsStillDueAfterAFailure) {
  const int large = filled(10000, 10000);
  const std::string path = writer("t.dat");
  rlimit limit, tight{20000, RLIM_INFINITY};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  tight.rlim_max = limit.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const int error = FTrace_send_chunk(large, 0, kFree | JTN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_EQ(error, FTRACE_E_DISK_FULL);
  EXPECT_EQ(std::filesystem::file_size(path), 0u);
  EXPECT_EQ(FTrace_send_chunk(large, 0, kFree | JTN), 0);
  expect_saved(read_records(path), clock_at(events_of(large)[0]) + events_of(large));
}

TEST_F(FtraceSave, APipeThatNobodyReadsIsAnErrorAndNoSignal) {
  std::string path = dir_ / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const int sent = filled(10, 10), kept = filled(10, 10);
  writer("pipe");
  ASSERT_EQ(FTrace_send_chunk(sent, 0, kFree), 0);
  close(reader);
  EXPECT_EQ(FTrace_send_chunk(kept, 0, kFree), FTRACE_E_IO);
  EXPECT_EQ(errno, EPIPE);
  EXPECT_EQ(status(kept).events, 10u);
}

TEST_F(FtraceSave, DevFullIsAFullDisk) {
  int chunk = filled(10, 10);
  char full[] = "/dev/full";
  ASSERT_EQ(FTrace_init_disk_writer(full, 0, nullptr, nullptr), 0);
  EXPECT_EQ(FTrace_send_chunk(chunk, 0, kFree), FTRACE_E_DISK_FULL);
  EXPECT_EQ(status(chunk).events, 10u);
}

TEST_F(FtraceSave, TheDiskWriterRefusesWhatIsNotAChunk) {
  writer("t.dat");
  FTrace_disk_writer(nullptr);
  EXPECT_EQ(FTrace_last_error(), FTRACE_E_UNKNOWN_CHUNK);
  FTrace_Chunk forged{};
  FTrace_disk_writer(&forged);
  EXPECT_EQ(FTrace_last_error(), FTRACE_E_UNKNOWN_CHUNK);
  forged.id = FTRACE_CHUNK_ID;
  forged.number = 7;
  FTrace_disk_writer(&forged);
  EXPECT_EQ(FTrace_last_error(), FTRACE_E_UNKNOWN_CHUNK);
}

TEST_F(FtraceSave, ACompressedChunkIsSmallerAndGivesTheSameFile) {
  int chunk = filled(1000, 1004);
  const auto plain = records_of(chunk);
  const FTrace_DWORD size = status(chunk).size;
  ASSERT_EQ(FTrace_compress_chunk(chunk, JTN | NODEL), 0);
  EXPECT_EQ(flags_of(chunk), COMPR | JTN | NODEL | FULL);
  EXPECT_LT(status(chunk).size, size / 2);
  EXPECT_EQ(status(chunk).events, 1000u);
  EXPECT_EQ(status(chunk).emergency_events, 2u);
  EXPECT_EQ(bytes_of(records_of(chunk)), bytes_of(plain));
  EXPECT_EQ(FTrace_compress_chunk(chunk, JTN | COMPR), 0); // it is
  EXPECT_EQ(FTrace_actual_chunk_select(chunk), FTRACE_E_NOT_FREE);
  EXPECT_EQ(FTrace_enable(), FTRACE_E_FULL);

  std::string path = writer("t.dat");
  EXPECT_EQ(FTrace_send_chunk(chunk, 0, kFree | JTN), 0);
  auto saved = read_records(path);
  ASSERT_EQ(saved.size(), 1003u);
  EXPECT_EQ(bytes_of({saved.begin() + 1, saved.end()}), bytes_of(plain));
  saved.resize(1001); // without the blackout
  Events logged = events_of(chunk);
  logged.resize(1000);
  expect_saved(saved, clock_at(logged[0]) + logged);
  EXPECT_EQ(flags_of(chunk), kFree | JTN); // with memory again
  EXPECT_EQ(status(chunk).size, size);
  EXPECT_EQ(FTrace_enable(), 0);
  log(1);
  FTrace_disable();
  EXPECT_EQ(said_in(chunk), Saids{user(1)});
}

TEST_F(FtraceSave, CompressDoesNotThrowAway) {
  int chunk = filled(2, 2), empty = create(1, kFree);
  EXPECT_EQ(FTrace_compress_chunk(chunk, kFree), FTRACE_E_FLAGS);
  EXPECT_EQ(said_in(chunk), (Saids{user(1), user(2)}));
  EXPECT_EQ(FTrace_compress_chunk(empty, 0), 0);
  EXPECT_EQ(said_in(empty), Saids{});
}

class FtraceUdp : public FtraceSave {
protected:
  FtraceUdp() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    int room = 4 << 20;
    EXPECT_EQ(setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), 0);
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr *>(&address), size), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr *>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    target_ = "127.0.0.1:" + std::to_string(port_);
    EXPECT_EQ(FTrace_OSD_init_udp(1, local_.data(), target_.data()), 0);
  }
  ~FtraceUdp() override { close(socket_); }

  std::string receive() {
    char bytes[2000];
    ssize_t size = recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT);
    return size < 0 ? "" : std::string(bytes, size_t(size));
  }

  int socket_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  uint16_t port_ = 0;
  std::string local_ = "127.0.0.1", target_;
};

uint32_t word(const std::string &bytes, size_t at) {
  uint32_t value;
  memcpy(&value, bytes.data() + at, 4);
  return value;
}

TEST_F(FtraceUdp, DatagramsOfTheOriginalsFormat) {
  int a = filled(200, 130);
  ASSERT_EQ(FTrace_send_chunk(a, 0, kFree), 0);
  int b = filled(200, 3);
  ASSERT_EQ(FTrace_send_chunk(b, 0, kFree), 0);
  std::vector<ftrace_record> received;
  const uint32_t counts[] = {60, 60, 11, 4}; // each chunk has the rate of its clock
  for (uint32_t number = 1; number <= 4; number++) {
    const std::string datagram = receive();
    ASSERT_GE(datagram.size(), 24u) << number;
    EXPECT_EQ(datagram.substr(0, 12), std::string("TRACER-V1.0\0", 12));
    EXPECT_EQ(word(datagram, 12), number);
    EXPECT_EQ(word(datagram, 16), counts[number - 1]);
    EXPECT_EQ(word(datagram, 20), datagram.size());
    EXPECT_EQ(datagram.size(), 24 + 16 * counts[number - 1]);
    for (size_t at = 24; at < datagram.size(); at += 16) {
      ftrace_record record;
      memcpy(&record, datagram.data() + at, sizeof record);
      received.push_back(record);
    }
  }
  EXPECT_EQ(receive(), "");
  expect_saved(received,
               clock_at(events_of(a)[0]) + events_of(a) + clock_at(events_of(b)[0]) + events_of(b));
}

TEST_F(FtraceUdp, NoDatagramIsEmpty) {
  const int full = filled(59, 59), empty = create(1, kFree);
  ASSERT_EQ(FTrace_send_chunk(full, 0, kFree), 0);
  EXPECT_EQ(receive().size(), 24u + 60 * 16) << "with the rate of the clock";
  ASSERT_EQ(FTrace_send_chunk(empty, 0, kFree), 0);
  EXPECT_EQ(receive(), "");
}

TEST_F(FtraceUdp, AChunkThatHasTheRateOfTheClockGetsNoOther) {
  const int chunk = start(4, JTN);
  TRACER_LOGEVENT(FTrace_EVT_trace_start, 0, 5);
  log(1);
  FTrace_disable();
  ASSERT_EQ(FTrace_send_chunk(chunk, 0, kFree), 0);
  const std::string datagram = receive();
  ASSERT_EQ(datagram.size(), 24u + 2 * 16);
  EXPECT_EQ(word(datagram, 24) & 0xffff, uint32_t(FTrace_EVT_trace_start));
  EXPECT_EQ(word(datagram, 36), 5u);
}

TEST_F(FtraceUdp, NobodyListens) {
  close(socket_);
  socket_ = -1;
  int chunk = filled(1000, 1000);
  EXPECT_EQ(FTrace_send_chunk(chunk, 0, kFree), FTRACE_E_NETWORK);
  EXPECT_EQ(status(chunk).events, 1000u);
}

// The socket is replaced by one that blocks. The signals come while it does.
TEST_F(FtraceUdp, ASignalDoesNotSendADatagramAgain) {
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair), 0);
  sockaddr_in own{};
  int sender = -1;
  for (int fd = 3; fd < 1000 && sender < 0; fd++) {
    socklen_t size = sizeof own;
    if (getpeername(fd, reinterpret_cast<sockaddr *>(&own), &size) == 0 &&
        own.sin_family == AF_INET && ntohs(own.sin_port) == port_)
      sender = fd;
  }
  ASSERT_GE(sender, 0);
  ASSERT_EQ(dup2(pair[0], sender), sender);
  const int room = 1; // the least: a few datagrams
  ASSERT_EQ(setsockopt(sender, SOL_SOCKET, SO_SNDBUF, &room, sizeof room), 0);
  struct sigaction action = {}, before;
  action.sa_handler = [](int) {}; // without SA_RESTART
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  const int chunk = filled(1800, 1800);
  std::vector<uint32_t> numbers;
  std::atomic<bool> sent = false;
  std::thread reader([&, thread = pthread_self()] {
    for (bool last = false; !last;) {
      last = sent;
      for (int n = 0; n < 20 && !last; n++) { // meanwhile no datagram is taken
        pthread_kill(thread, SIGUSR1);
        usleep(1000);
      }
      char bytes[2000];
      for (ssize_t size; (size = recv(pair[1], bytes, sizeof bytes, MSG_DONTWAIT)) > 0;)
        numbers.push_back(word(std::string(bytes, size_t(size)), 12));
    }
  });
  EXPECT_EQ(FTrace_send_chunk(chunk, 0, kFree), 0);
  sent = true;
  reader.join();
  sigaction(SIGUSR1, &before, nullptr);
  close(pair[0]);
  close(pair[1]);
  std::vector<uint32_t> expected(31);
  std::iota(expected.begin(), expected.end(), 1);
  EXPECT_EQ(numbers, expected);
}

TEST_F(FtraceUdp, WrongAddresses) {
  auto init = [](int flag, const char *local, const char *target) {
    return FTrace_OSD_init_udp(flag, const_cast<char *>(local), const_cast<char *>(target));
  };
  EXPECT_EQ(init(0, nullptr, nullptr), FTRACE_E_ARGUMENT);
  EXPECT_EQ(init(1, nullptr, "127.0.0.1"), FTRACE_E_ARGUMENT);
  for (const char *wrong : {"", "localhost", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:99999",
                            "[127.0.0.1", "[::1]x", "256.1.1.1"})
    EXPECT_EQ(init(0, nullptr, wrong), FTRACE_E_ADDRESS) << wrong;
  EXPECT_EQ(init(1, "192.0.2.1", "127.0.0.1"), FTRACE_E_ADDRESS); // not one of this machine
  EXPECT_EQ(init(1, local_.data(), std::string(1000, '1').c_str()), FTRACE_E_ADDRESS);
  // The sender that was there stays.
  int chunk = filled(2, 1);
  ASSERT_EQ(FTrace_send_chunk(chunk, 0, kFree), 0);
  EXPECT_EQ(receive().size(), 24u + 2 * 16);
}

} // namespace
