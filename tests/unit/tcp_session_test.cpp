// SPDX-License-Identifier: BSD-2-Clause
// A sender at a collector, without sockets: user/net/tcp_session.
#include "tests/unit/support/memory_sink.h"
#include "user/net/tcp_session.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

/// The sender's side, message by message.
class Sender {
public:
  explicit Sender(TcpSession &session) : session_(session) {}

  void introduce(const std::string &name) {
    send(MessageType::identify, write_identify(name));
    if (!session_.ended())
      directory_ = read(MessageType::accept);
  }
  void send(MessageType type, std::string_view payload) {
    session_.receive(write_message(type, payload));
  }
  void send_records(uint32_t cpu, const std::string &bytes,
                    MessageType type = MessageType::records) {
    std::string payload;
    put_number(payload, cpu);
    send(type, payload + bytes);
  }
  void send_end(uint64_t bytes, uint64_t missing = 0) {
    std::string payload;
    put_number(payload, bytes);
    put_number(payload, missing);
    send(MessageType::end, payload);
  }
  /// The payload of the next message, which must be of this type.
  std::string read(MessageType type) {
    parser_.feed(std::exchange(session_.output(), {}));
    const std::optional<Message> message = parser_.next();
    EXPECT_TRUE(message && message->type == type) << (message ? uint32_t(message->type) : 0);
    return message ? std::string(message->payload) : "";
  }
  const std::string &directory() const { return directory_; }

private:
  TcpSession &session_;
  MessageParser parser_;
  std::string directory_;
};

class TcpSessionTest : public testing::Test {
protected:
  test::MemoryStore store_;
  const std::string record_ = std::string(16, 'r');
};

TEST_F(TcpSessionTest, TakesATrace) {
  TcpSession session(store_.maker());
  Sender sender(session);
  sender.introduce("app-1");
  EXPECT_EQ(sender.directory(), "memory/app-1");
  sender.send(MessageType::description, "{\"a\":");
  EXPECT_FALSE(session.described());
  sender.send(MessageType::description, "1}");
  sender.send(MessageType::description_end, "");
  EXPECT_TRUE(session.described());
  sender.send_records(0, record_);
  sender.send_records(3, record_ + record_);
  sender.send_records(0, record_);
  sender.send_records(1, "any bytes", MessageType::zstd_records);
  EXPECT_FALSE(session.complete());
  sender.send_end(4 * 16 + 9);
  EXPECT_TRUE(session.complete() && session.ended()) << session.error();
  EXPECT_EQ(get_number<uint64_t>(sender.read(MessageType::done), 0), 4u * 16 + 9);
  const test::MemoryTrace trace = std::exchange(store_.traces["app-1"], {});
  EXPECT_EQ(trace.description, "{\"a\":1}");
  EXPECT_EQ(trace.files.at({0, Codec::none}).size(), 32u);
  EXPECT_EQ(trace.files.at({3, Codec::none}).size(), 32u);
  EXPECT_EQ(trace.files.at({1, Codec::zstd}), "any bytes");
}

TEST_F(TcpSessionTest, TheNameOfASenderIsNoPath) {
  TcpSession session(store_.maker());
  Sender sender(session);
  sender.introduce("../up");
  EXPECT_EQ(sender.directory(), "memory/_._up");
  EXPECT_EQ(session.sink()->path(), "memory/_._up");
}

// All that was sent came, but that is not all of the capture.
TEST_F(TcpSessionTest, ATraceWithDroppedEventsIsIncomplete) {
  TcpSession session(store_.maker());
  Sender sender(session);
  sender.introduce("app");
  sender.send(MessageType::description, "{}");
  sender.send(MessageType::description_end, "");
  sender.send_records(0, record_);
  sender.send_end(16, 959'621);
  EXPECT_EQ(get_number<uint64_t>(sender.read(MessageType::done), 0), 16u)
      << "as much as was sent is written";
  EXPECT_TRUE(session.ended());
  EXPECT_FALSE(session.complete());
  EXPECT_NE(session.error().find("959,621 events are missing"), std::string::npos)
      << session.error();
}

TEST_F(TcpSessionTest, EndsAtAForbiddenMessage) {
  const auto error_after = [&](const std::function<void(Sender &)> &say) {
    test::MemoryStore store;
    TcpSession session(store.maker());
    Sender sender(session);
    sender.introduce("app");
    sender.send_records(0, record_);
    say(sender);
    EXPECT_TRUE(session.ended() && !session.complete());
    EXPECT_EQ(store.traces["app"].files.at({0, Codec::none}), record_) << "what came stays";
    EXPECT_FALSE(store.traces["app"].discarded);
    return session.error();
  };
  const auto describe = [](Sender &s) {
    s.send(MessageType::description, "{}");
    s.send(MessageType::description_end, "");
  };
  const auto has = [](const std::string &text, const char *what) {
    EXPECT_NE(text.find(what), std::string::npos) << text;
  };
  has(error_after([&](Sender &s) { s.send_records(8192, record_); }), "there is no CPU 8192");
  has(error_after([&](Sender &s) { s.send_records(0, record_ + "x"); }), "not whole records");
  has(error_after([&](Sender &s) { s.send_records(0, ""); }), "a message of chunks is empty");
  has(error_after([&](Sender &s) { s.send(MessageType::records, "abc"); }),
      "a message of chunks is empty");
  has(error_after([&](Sender &s) { describe(s), s.send_end(17); }),
      "16 bytes of chunks arrived, but the sender says that it sent another number");
  has(error_after([&](Sender &s) { describe(s), s.send_end(15); }),
      "16 bytes of chunks arrived, but the sender says that it sent another number");
  has(error_after([&](Sender &s) { describe(s), s.send(MessageType::end, "x"); }),
      "another number");
  has(error_after([&](Sender &s) { s.send_end(16); }), "without its trace.json");
  has(error_after(
          [&](Sender &s) { describe(s), s.send(MessageType::description, "{"), s.send_end(16); }),
      "without its trace.json");
  has(error_after([&](Sender &s) { s.send(MessageType::identify, write_identify("app")); }),
      "identified itself twice");
  has(error_after([&](Sender &s) { s.send(MessageType::done, ""); }), "not for a collector");
  has(error_after([&](Sender &s) { s.send(MessageType::refuse, "no \x1b[31mdisk"); }),
      "gave up: no ?[31mdisk");
  has(error_after([&](Sender &s) {
        s.send(MessageType::refuse, "C1: \xc2\x9b"
                                    "31m");
      }),
      "gave up: C1: ??31m");
  const std::string long_text =
      error_after([&](Sender &s) { s.send(MessageType::refuse, std::string(100'000, 'x')); });
  EXPECT_LT(long_text.size(), 400u);
}

TEST_F(TcpSessionTest, WantsAnIntroductionFirst) {
  TcpSession session(store_.maker());
  session.receive(write_message(MessageType::records, "1234", record_));
  EXPECT_NE(session.error().find("does not identify it"), std::string::npos);
  TcpSession silent(store_.maker());
  silent.disconnect();
  EXPECT_EQ(silent.error(), "the sender disconnected before it identified itself");
}

TEST_F(TcpSessionTest, KeepsTheChunksOfADyingSender) {
  TcpSession session(store_.maker());
  Sender sender(session);
  sender.introduce("app");
  sender.send_records(0, record_);
  session.disconnect("Broken pipe");
  EXPECT_EQ(session.error(),
            "the sender disconnected before the end (Broken pipe); what had come is readable");
  EXPECT_EQ(store_.traces["app"].files.at({0, Codec::none}), record_);
  EXPECT_FALSE(store_.traces["app"].discarded);

  TcpSession empty(store_.maker());
  Sender another(empty);
  another.introduce("nothing");
  empty.disconnect();
  EXPECT_TRUE(store_.traces["nothing"].discarded);
}

TEST_F(TcpSessionTest, ReportsTheSenderThatTheDiskIsFull) {
  store_.room = 16;
  TcpSession session(store_.maker());
  Sender sender(session);
  sender.introduce("app");
  sender.send_records(0, record_);
  sender.send_records(0, record_);
  EXPECT_EQ(sender.read(MessageType::refuse), "no room");
  EXPECT_TRUE(session.ended());
}

TEST_F(TcpSessionTest, SaysInWholeSentencesWhyItEnds) {
  const auto error_after = [&](const std::function<void(Sender &)> &say) {
    test::MemoryStore store;
    TcpSession session(store.maker());
    Sender sender(session);
    sender.introduce("app");
    say(sender);
    return session.error();
  };
  EXPECT_EQ(error_after([&](Sender &s) { s.send_records(8191, record_); }), "") << "the last CPU";
  EXPECT_EQ(error_after([&](Sender &s) { s.send_records(8192, record_); }), "there is no CPU 8192");
  EXPECT_EQ(error_after([&](Sender &s) { s.send_records(0, record_ + "x"); }),
            "17 bytes are not whole records");
  EXPECT_EQ(error_after([&](Sender &s) { s.send_records(0, record_ + record_.substr(8)); }),
            "24 bytes are not whole records");
  EXPECT_EQ(error_after([&](Sender &s) { s.send_records(0, ""); }), "a message of chunks is empty");
  EXPECT_EQ(error_after([&](Sender &s) { s.send_end(0); }),
            "the sender ended without its trace.json");
  EXPECT_EQ(error_after([&](Sender &s) { s.introduce("app"); }),
            "the sender identified itself twice");
  EXPECT_EQ(error_after([&](Sender &s) { s.send(MessageType::accept, ""); }),
            "a message of type 2 is not for a collector");
  EXPECT_EQ(error_after([&](Sender &s) { s.send(MessageType::refuse, std::string(301, 'x')); }),
            "the sender gave up: " + std::string(300, 'x'));
  EXPECT_EQ(error_after([&](Sender &s) {
              s.send(MessageType::description_end, "");
              s.send_end(0, 1);
            }),
            "1 event is missing, shown as blackouts: the sender had to drop them");
  EXPECT_EQ(error_after([&](Sender &s) {
              s.send(MessageType::description_end, "");
              std::string end;
              put_number<uint64_t>(end, 0);
              put_number<uint64_t>(end, 0);
              s.send(MessageType::end, end + "x");
            }),
            "0 bytes of chunks arrived, but the sender says that it sent another number");
}

TEST_F(TcpSessionTest, SaysWhyASenderIsNotIntroduced) {
  TcpSession session(store_.maker());
  session.receive(write_message(MessageType::description, "{}"));
  EXPECT_EQ(session.error(), "the first message of the sender does not identify it");
  TcpSession reset(store_.maker());
  reset.disconnect("Connection reset by peer");
  EXPECT_EQ(reset.error(),
            "the sender disconnected before it identified itself (Connection reset by peer)");
  TcpSession poor(
      [](const std::string &) -> std::unique_ptr<TraceSink> { throw std::bad_alloc(); });
  Sender sender(poor);
  sender.introduce("app");
  EXPECT_EQ(sender.read(MessageType::refuse), "out of memory");
}

TEST_F(TcpSessionTest, TakesNothingAfterItsEnd) {
  TcpSession session(store_.maker());
  Sender sender(session);
  sender.introduce("app");
  sender.send(MessageType::description_end, "");
  std::string end, record;
  put_number<uint64_t>(end, 0);
  put_number<uint64_t>(end, 0);
  put_number<uint32_t>(record, 0);
  session.receive(write_message(MessageType::end, end) +
                  write_message(MessageType::records, record, record_));
  EXPECT_TRUE(session.complete()) << "what came at once with the end";
  sender.send_records(0, record_);
  sender.send(MessageType::identify, "again");
  session.refuse("too late");
  session.disconnect("later");
  EXPECT_EQ(session.error(), "");
  EXPECT_EQ(session.output(), write_message(MessageType::done, std::string(8, 0)));
  EXPECT_TRUE(store_.traces["app"].files.empty());

  TcpSession refused(store_.maker());
  refused.refuse("first");
  refused.refuse("second");
  EXPECT_EQ(refused.error(), "first");
  EXPECT_EQ(refused.output(), write_message(MessageType::refuse, "first"));
}

TEST(SafeName, IsNoPath) {
  EXPECT_EQ(safe_name("app-20250101-120000"), "app-20250101-120000");
  EXPECT_EQ(safe_name("../../etc/passwd"), "_._.._etc_passwd");
  EXPECT_EQ(safe_name(".."), "_.");
  EXPECT_EQ(safe_name(""), "trace");
  EXPECT_EQ(safe_name("-rf"), "_rf");
  EXPECT_EQ(safe_name(std::string("a\n\0\x1b b", 6)), "a____b");
  EXPECT_EQ(safe_name(std::string(500, 'x')).size(), 100u);
  EXPECT_EQ(safe_name("\xc3\xa4"), "__");
  EXPECT_EQ(safe_name("azAZ09._-+"), "azAZ09._-+");
  EXPECT_EQ(safe_name("`{@[/:,*"), "________") << "what is next to them";
}

} // namespace
} // namespace ovnitrace
