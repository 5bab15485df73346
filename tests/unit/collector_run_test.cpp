// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace collect` while it runs, in a process of its own: what its options do, and what it says
// of its senders: user/cli/collect_cli, user/net/collector.
#include "emulator/base/error.h"
#include "emulator/cli/run.h"
#include "tests/unit/support/datagram_bytes.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "user/cli/commands.h"
#include "user/net/tcp_link.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

using test::bytes_of;
using test::datagram_of;

/// The collector. What it prints can be read line by line.
class Collector {
public:
  explicit Collector(std::vector<std::string> words) {
    int out[2];
    EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      alarm(60);            // who hangs is killed
      unsetenv("SUDO_UID"); // it would be that user
      dup2(out[1], STDERR_FILENO);
      words.insert(words.begin(), {"ovnitrace", "collect"});
      std::vector<char *> argv;
      for (std::string &word : words)
        argv.push_back(word.data());
      const RootApp app("", "ovnitrace");
      add_collect(app);
      _exit(run_cli(app, int(argv.size()), argv.data()));
    }
    close(out[1]);
    said_ = fdopen(out[0], "r");
  }
  ~Collector() {
    end();
    fclose(said_);
  }
  Collector(const Collector &) = delete;
  Collector &operator=(const Collector &) = delete;

  /// Returns the next line, or "nothing more".
  std::string line() {
    std::string text;
    for (int c; (c = fgetc(said_)) != EOF;)
      if (c == '\n')
        return text;
      else
        text += char(c);
    return text.empty() ? "nothing more" : text;
  }
  /// Returns the address at which it says that it listens.
  Endpoint listens() {
    const std::string start = "ovnitrace: listening on ", text = line();
    EXPECT_TRUE(text.starts_with(start)) << text;
    return parse_endpoint("", text.substr(std::min(start.size(), text.size())));
  }
  /// Asks it to end, and returns its exit status.
  int end() {
    if (pid_ < 0)
      return -1;
    kill(pid_, SIGTERM);
    int status = -1;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

private:
  pid_t pid_;
  std::FILE *said_;
};

/// A program with libovnitrace.
class Program {
public:
  explicit Program(const Endpoint &collector)
      : socket_(open_socket(collector, "send to", [](const addrinfo &to) {
          UniqueFd fd(socket(to.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
          EXPECT_EQ(connect(fd.get(), to.ai_addr, to.ai_addrlen), 0);
          return fd;
        })) {}
  void send(const std::string &bytes) const {
    EXPECT_EQ(::send(socket_.get(), bytes.data(), bytes.size(), 0), ssize_t(bytes.size()));
  }
  std::string address() const { return local_text(socket_.get()); }

private:
  const UniqueFd socket_;
};

class CollectorRun : public testing::Test {
protected:
  static void describe(TcpLink &link) {
    link.send(MessageType::description, "{}");
    link.send(MessageType::description_end, "");
  }
  /// Sends `records` of a CPU, and ends the trace.
  static void send_records(TcpLink &link, const std::string &records) {
    std::string cpu, end;
    put_number<uint32_t>(cpu, 2);
    put_number<uint64_t>(end, records.size());
    put_number<uint64_t>(end, 0);
    link.send(MessageType::records, cpu, records);
    link.send(MessageType::end, end);
    link.receive(MessageType::done);
  }
  std::string key() const {
    const std::string path = dir_ / "key";
    std::ofstream(path) << "0123456789abcdef";
    chmod(path.c_str(), 0600);
    return path;
  }
  test::TempDir dir_;
};

TEST_F(CollectorRun, WritesWhatComesAtEachOfItsAddresses) {
  Collector collector({"-o", dir_ / "traces", "-l", "udp://127.0.0.1:0", "--listen", "0", "-l",
                       "tcp://127.0.0.2:0"});
  const Endpoint udp = collector.listens(), first = collector.listens(),
                 second = collector.listens();
  EXPECT_EQ(udp.transport, Endpoint::kUdp);
  EXPECT_EQ(first.host, "127.0.0.1");
  EXPECT_EQ(second.host, "127.0.0.2");
  const std::string records(32, 'r');
  for (const Endpoint &endpoint : {first, second}) {
    TcpLink link(endpoint, {}, "app" + endpoint.host.substr(8));
    EXPECT_EQ(link.directory(), (dir_ / "traces/app") + endpoint.host.substr(8));
    describe(link);
    EXPECT_NE(collector.line().find(" sends; written to " + link.directory()), std::string::npos);
    send_records(link, records);
    EXPECT_EQ(collector.line(), "ovnitrace: " + link.directory() + " is complete: 32 bytes");
    EXPECT_EQ(test::text_of(link.directory() + "/cpu0002.ftr"), records);
    EXPECT_EQ(test::text_of(link.directory() + "/trace.json"), "{}");
  }
  const Program program(udp);
  program.send(bytes_of(datagram_of(1, 3)));
  EXPECT_NE(collector.line().find(program.address() + " sends; written to " + (dir_ / "traces/")),
            std::string::npos);
  EXPECT_EQ(collector.end(), 0);
  EXPECT_TRUE(collector.line().ends_with(" is complete: 1 datagram, 0 lost"));
}

// Nothing that comes later wakes it.
TEST_F(CollectorRun, GivesUpWhatIsMissingThoughNothingMoreComes) {
  Collector collector({"-o", dir_.path(), "-l", "udp://127.0.0.1:0"});
  const Program program(collector.listens());
  program.send(bytes_of(datagram_of(2, 3)));
  EXPECT_NE(collector.line().find(program.address() + " sends; written to "), std::string::npos);
  EXPECT_EQ(collector.end(), 3);
}

TEST_F(CollectorRun, QuietPrintsOnlyErrors) {
  Collector collector({"-q", "-o", dir_.path(), "-l", "udp://127.0.0.1:0"});
  const Program program(collector.listens());
  program.send(bytes_of(datagram_of(1, 3)));
  program.send("no datagram");
  EXPECT_EQ(collector.line(),
            "ovnitrace: " + program.address() +
                ": error: a datagram of 11 bytes that is shorter than its header");
  EXPECT_EQ(collector.end(), 0);
  EXPECT_EQ(collector.line(), "nothing more");
}

TEST_F(CollectorRun, EndsWith3IfATraceIsNotComplete) {
  Collector collector({"-o", dir_.path(), "-l", "udp://127.0.0.1:0", "-l", "0"});
  const Program program(collector.listens());
  collector.listens();
  program.send(bytes_of(datagram_of(1, 3)));
  collector.line();
  program.send(bytes_of(datagram_of(3, 3)));
  program.send("it has come by now");
  collector.line();
  EXPECT_EQ(collector.end(), 3);
  EXPECT_TRUE(collector.line().ends_with(": error: not complete: 2 datagrams, 1 lost"));
}

TEST_F(CollectorRun, TakesOnlySendersWithItsKey) {
  Collector collector({"-o", dir_.path(), "--key", key(), "-l", "0"});
  const Endpoint endpoint = collector.listens();
  EXPECT_EQ(TcpLink(endpoint, preshared_key("0123456789abcdef"), "app").directory(), dir_ / "app");
  try {
    const TcpLink link(endpoint, {}, "app");
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_EQ(error.what(), "cannot send to " + endpoint.text() +
                                ": it says: this collector accepts only senders with its key: give "
                                "--key FILE");
  }
}

TEST_F(CollectorRun, ATraceAndTheSendersHaveALimit) {
  Collector collector({"-o", dir_.path(), "-l", "0", "--max-size", "1K", "--max-senders", "1"});
  const Endpoint endpoint = collector.listens();
  const std::string says = "cannot send to " + endpoint.text() + ": it says: ";
  TcpLink large(endpoint, {}, "large");
  EXPECT_EQ(test::error_from([&] { describe(large), send_records(large, std::string(1024, 'r')); }),
            says + "the limit of 1024 bytes for one trace is reached (--max-size); nothing was "
                   "kept");
  TcpLink one(endpoint, {}, "one");
  describe(one);
  bool served = false; // after what it says of the other one
  for (int lines = 0; lines < 3 && !served; lines++)
    served = collector.line().ends_with(" sends; written to " + one.directory());
  EXPECT_TRUE(served);
  EXPECT_EQ(test::error_from([&] { TcpLink(endpoint, {}, "two"); }),
            says + "1 sender is being served, no more are allowed (--max-senders)");
}

TEST_F(CollectorRun, WithAKeyItMayTakeDatagramsToo) {
  Collector collector({"-o", dir_.path(), "--key", key(), "-l", "udp://127.0.0.1:0", "-l", "0"});
  EXPECT_EQ(collector.listens().transport, Endpoint::kUdp);
  EXPECT_EQ(collector.listens().transport, Endpoint::kTcp);
  EXPECT_EQ(collector.end(), 0);
}

// Somebody else may listen there, so that it may not start.
TEST_F(CollectorRun, ListensOnTheLoopbackAndPort20000) {
  Collector collector({"-o", dir_.path()});
  const std::string first = collector.line();
  if (first != "ovnitrace: listening on tcp://127.0.0.1:20000") {
    EXPECT_EQ(first, "ovnitrace: cannot listen on tcp://127.0.0.1:20000: Address already in use");
  }
}

} // namespace
} // namespace ovnitrace
