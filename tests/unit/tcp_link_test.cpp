// SPDX-License-Identifier: BSD-2-Clause
// The sender's end of a connection, and peers that are not collectors: user/net/tcp_link.
#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/fake_collector.h"
#include "user/net/tcp_link.h"

#include <gtest/gtest.h>

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <list>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace ovnitrace {
namespace {

using test::error_from;
using test::FakeCollector;

constexpr uint64_t kSecond = 1'000'000'000; // ns

// It never ends to say who it is, byte by byte: as long as the sender would listen.
TEST(TcpLink, EndsIfTheCollectorKeepsTalking) {
  std::atomic<bool> refused = false;
  std::string why;
  uint64_t time = 0; // ns: each look at the clock takes 20 s
  {
    FakeCollector collector([&](int fd) {
      const char header[8] = {2, 0, 0, 0, 0, 4, 0, 0}; // an accept of 1024 bytes
      send(fd, header, sizeof header, MSG_NOSIGNAL);
      const timespec pause = {0, 2'000'000};
      for (int n = 0; n < 1000 && !refused; n++) { // less than it promised
        if (send(fd, "x", 1, MSG_NOSIGNAL) < 0)
          refused = true;
        nanosleep(&pause, nullptr);
      }
    });
    why = error_from([&] {
      TcpLink(collector.endpoint(), {}, "app", {}, [&] { return time += 20 * kSecond; });
    });
  }
  EXPECT_TRUE(refused) << "it hung up while the other was talking";
  EXPECT_TRUE(why.ends_with(": it took no data and sent no valid message for 60 s")) << why;
}

// A program may log nothing for hours. The time between two calls does not count.
TEST(TcpLink, EachCallHasAMinute) {
  FakeCollector collector([](int fd) {
    FakeCollector::say(fd, MessageType::accept, "there");
    size_t left = write_message(MessageType::identify, write_identify("app")).size() +
                  write_message(MessageType::records, "abcd").size();
    for (char bytes[100]; left;)
      left -= size_t(recv(fd, bytes, std::min(left, sizeof bytes), 0));
    FakeCollector::say(fd, MessageType::done, "written");
    FakeCollector::wait_until_closed(fd);
  });
  uint64_t begin = 0, later = 0; // ns: when a call begins, and each time after that
  TcpLink link(collector.endpoint(), {}, "app", {}, [&] { return std::exchange(begin, later); });
  begin = 3600 * kSecond, later = 3660 * kSecond - 1;
  link.send(MessageType::records, "abcd");
  begin = 7200 * kSecond, later = 7260 * kSecond - 1;
  EXPECT_EQ(link.receive(MessageType::done), "written");
  begin = 9000 * kSecond, later = 9060 * kSecond;
  const std::string why =
      "cannot send to " + link.collector() + ": it took no data and sent no valid message for 60 s";
  EXPECT_EQ(error_from([&] { link.send(MessageType::records, "abcd"); }), why);
  EXPECT_FALSE(link.open());
}

/// An address of this machine at which nobody takes connections. It has room for no more of them.
class FullListener {
public:
  FullListener() {
    EXPECT_EQ(listen(socket_.get(), 0), 0); // on any port
    const std::string port = local_text(socket_.get()).substr(sizeof "0.0.0.0:" - 1);
    endpoint = parse_endpoint("", "tcp://127.0.0.1:" + port);
    for (int n = 0; n < 4; n++)
      waiting_.push_back(open_socket(endpoint, "", [](const addrinfo &to) {
        UniqueFd fd(socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        EXPECT_TRUE(connect(fd.get(), to.ai_addr, to.ai_addrlen) == 0 || errno == EINPROGRESS);
        return fd;
      }));
  }
  Endpoint endpoint;

private:
  const UniqueFd socket_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::list<UniqueFd> waiting_;
};

TEST(TcpLink, AConnectionIsMadeWithinTenSeconds) {
  const FullListener full;
  const uint64_t times[] = {7 * kSecond, 17 * kSecond - 1, 17 * kSecond, 18 * kSecond};
  size_t looks = 0;
  EXPECT_EQ(error_from(
                [&] { TcpLink(full.endpoint, {}, "app", {}, [&] { return times[looks++ % 4]; }); }),
            "cannot send to " + full.endpoint.text() + ": Connection timed out");
  EXPECT_EQ(looks, 3u);
}

// Who wants to end it need not wait for a collector that says nothing, with TLS or without, nor for
// one that is not there yet.
TEST(TcpLink, EndsAsItsCheckSaysWhileItConnects) {
  const auto status_of = [](const Endpoint &endpoint, const std::optional<PresharedKey> &key) {
    int checks = 0;
    try {
      TcpLink(endpoint, key, "app", [&] {
        if (++checks == 2)
          throw Error("that is enough", Error::Status{77});
      });
    } catch (const Error &error) {
      EXPECT_STREQ(error.what(), "that is enough");
      return error.status();
    }
    return 0;
  };
  for (const bool keyed : {false, true}) {
    FakeCollector collector(FakeCollector::wait_until_closed);
    std::optional<PresharedKey> key;
    if (keyed)
      key = preshared_key("0123456789abcdef");
    EXPECT_EQ(status_of(collector.endpoint(), key), 77);
  }
  EXPECT_EQ(status_of(FullListener().endpoint, {}), 77);
}

// While a sender sends, a collector may refuse and nothing else: it cannot fill the sender's
// memory.
TEST(TcpLink, EndsAtMessagesThatHaveNoPlace) {
  std::string why;
  {
    FakeCollector collector([&](int fd) {
      FakeCollector::say(fd, MessageType::accept, "there");
      while (FakeCollector::say(fd, MessageType::done, std::string(1000, 'x'))) {
      }
    });
    TcpLink link(collector.endpoint(), {}, "app");
    EXPECT_EQ(link.directory(), "there");
    why = error_from([&] {
      for (;;)
        link.send(MessageType::records, std::string(100'000, 'r'));
    });
    EXPECT_FALSE(link.open());
  }
  EXPECT_NE(why.find("it sent a message of type 8, which is not expected here"), why.npos) << why;
}

TEST(TcpLink, GivesTheCollectorsWordsForATerminal) {
  for (const MessageType type : {MessageType::refuse, MessageType::accept}) {
    std::string why;
    {
      FakeCollector collector([&](int fd) {
        FakeCollector::say(fd, type,
                           "\x1b[31mred\xc2\x9b"
                           "1m\n");
        FakeCollector::wait_until_closed(fd);
      });
      why = error_from([&] {
        TcpLink link(collector.endpoint(), {}, "app");
        EXPECT_EQ(link.directory(), "?[31mred??1m?");
      });
    }
    if (type == MessageType::refuse)
      EXPECT_NE(why.find("it says: ?[31mred??1m?"), why.npos) << why;
    else
      EXPECT_EQ(why, "");
  }
}

// A collector that takes a little now and then is patience's friend, and not a deadline's.
TEST(TcpLink, EndsByTheTimeThatIsSetWhileItSends) {
  std::string why;
  std::atomic<bool> ended = false;
  {
    FakeCollector collector([&](int fd) {
      FakeCollector::say(fd, MessageType::accept, "there");
      char bytes[2000];
      const timespec pause = {0, 10'000'000};
      while (!ended) {
        recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
        nanosleep(&pause, nullptr);
      }
    });
    TcpLink link(collector.endpoint(), {}, "app");
    std::thread second([&] {
      const timespec pause = {0, 100'000'000};
      nanosleep(&pause, nullptr);
      link.end_by(monotonic_ns() + 100'000'000);
    });
    why = error_from([&] {
      for (;;)
        link.send(MessageType::records, std::string(1'000'000, 'r'));
    });
    ended = true;
    second.join();
  }
  EXPECT_NE(why.find("its rest could not be sent in time"), why.npos) << why;
}

TEST(TcpLink, EndsAtOnceWhenItMust) {
  FakeCollector collector([&](int fd) {
    FakeCollector::say(fd, MessageType::accept, "there");
    FakeCollector::wait_until_closed(fd);
  });
  TcpLink link(collector.endpoint(), {}, "app");
  link.end_by(0);
  EXPECT_NE(error_from([&] { link.send(MessageType::records, "abcd"); }).find("in time"),
            std::string::npos);
  EXPECT_NE(error_from([&] { link.receive(MessageType::done); }).find("is closed"),
            std::string::npos);
}

} // namespace
} // namespace ovnitrace
