// SPDX-License-Identifier: BSD-2-Clause
// Peers of a connection that have another TLS, another identity, or none: which of them a collector
// takes, and what each side reports (user/net/secure_channel, docs/network.md).
#include "emulator/base/error.h"
#include "user/net/secure_channel.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <sys/socket.h>

#include <string>

namespace ovnitrace {
namespace {

const PresharedKey kKey = preshared_key("0123456789abcdef");

/// The two ends of a connection; the second one is a channel's.
struct Ends {
  explicit Ends(SecureChannel::Side side, const std::optional<PresharedKey> &key = kKey) {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    peer = UniqueFd(fds[0]);
    channel.emplace(UniqueFd(fds[1]), side, key);
  }
  void say(std::string_view bytes) const {
    EXPECT_EQ(send(peer.get(), bytes.data(), bytes.size(), 0), ssize_t(bytes.size()));
  }
  /// Returns the error of the next step of the handshake; empty: none.
  std::string handshake() {
    try {
      channel->handshake();
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }
  /// Returns the error of a channel without TLS that reads; empty: none.
  std::string receive() {
    char bytes[10];
    try {
      channel->receive(bytes);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }
  UniqueFd peer;
  std::optional<SecureChannel> channel;
};

/// A sender that is not ours.
class Client {
public:
  Client(int fd, const std::string &priority, const char *identity) {
    gnutls_init(&session_, GNUTLS_CLIENT | GNUTLS_NONBLOCK);
    EXPECT_EQ(gnutls_priority_set_direct(session_, priority.c_str(), nullptr), 0) << priority;
    PresharedKey key = kKey;
    const gnutls_datum_t datum = {key.data(), unsigned(key.size())};
    gnutls_psk_allocate_client_credentials(&credentials_);
    gnutls_psk_set_client_credentials(credentials_, identity, &datum, GNUTLS_PSK_KEY_RAW);
    gnutls_credentials_set(session_, GNUTLS_CRD_PSK, credentials_);
    gnutls_transport_set_int(session_, fd);
  }
  ~Client() {
    gnutls_deinit(session_);
    gnutls_psk_free_client_credentials(credentials_);
  }
  Client(const Client &) = delete;
  Client &operator=(const Client &) = delete;
  int handshake() { return gnutls_handshake(session_); }

private:
  gnutls_session_t session_;
  gnutls_psk_client_credentials_t credentials_;
};

/// Whether a collector takes a sender with this TLS.
bool takes(const std::string &changes, const char *identity = "ovnitrace") {
  Ends ends(SecureChannel::Side::collector);
  Client client(ends.peer.get(), "NORMAL:-KX-ALL:+ECDHE-PSK:-VERS-ALL:+VERS-TLS1.3" + changes,
                identity);
  bool sent = false;
  for (int n = 0; n < 100; n++) {
    const int error = sent ? 0 : client.handshake();
    sent |= error == 0;
    try {
      if (ends.channel->handshake() && sent)
        return true;
    } catch (const Error &) {
      return false;
    }
    if (error < 0 && gnutls_error_is_fatal(error))
      return false;
  }
  ADD_FAILURE() << "it does not end";
  return false;
}

TEST(TlsPeer, HasTheIdentityOfTheManual) {
  EXPECT_TRUE(takes(""));
  EXPECT_FALSE(takes("", "ovnitracE"));
  EXPECT_FALSE(takes("", "ovnitrace2"));
}

TEST(TlsPeer, HasVersion13AndFreshKeys) {
  EXPECT_FALSE(takes(":-VERS-ALL:+VERS-TLS1.2"));
  EXPECT_FALSE(takes(":-KX-ALL:+PSK")) << "who gets the key later could read it";
}

TEST(TlsPeer, HasOneOfTwoCiphers) {
  EXPECT_TRUE(takes(":-CIPHER-ALL:+AES-128-GCM"));
  EXPECT_TRUE(takes(":-CIPHER-ALL:+CHACHA20-POLY1305"));
  EXPECT_FALSE(takes(":-CIPHER-ALL:+AES-128-CCM"));
}

TEST(TlsPeer, HasOneOfTwoGroups) {
  EXPECT_TRUE(takes(":-GROUP-ALL:+GROUP-X25519"));
  EXPECT_TRUE(takes(":-GROUP-ALL:+GROUP-SECP256R1"));
  EXPECT_FALSE(takes(":-GROUP-ALL:+GROUP-SECP384R1"));
}

TEST(TlsPeer, OneWithoutTlsIsToldInWords) {
  Ends collector(SecureChannel::Side::collector), sender(SecureChannel::Side::sender);
  EXPECT_TRUE(collector.channel->encrypts());
  collector.say("identify");
  EXPECT_EQ(collector.handshake(),
            "this collector accepts only senders with its key: give --key FILE");
  EXPECT_FALSE(collector.channel->encrypts());
  sender.say("accept");
  EXPECT_EQ(sender.handshake(), "the collector has no key, so nothing was sent to it: start it "
                                "with the same --key FILE");
  EXPECT_FALSE(sender.channel->encrypts());
}

TEST(TlsPeer, WhatLooksLikeTlsIsNotToldInWords) {
  Ends alert(SecureChannel::Side::collector), junk(SecureChannel::Side::collector);
  alert.say(std::string("\x15\3\3\0\2\2\50", 7)); // fatal: the handshake failed
  EXPECT_EQ(alert.handshake(), "the TLS handshake failed: An unexpected TLS packet was received.");
  EXPECT_TRUE(alert.channel->encrypts());
  junk.say(std::string("\x16\3\3\0\5junk!", 10));
  EXPECT_EQ(junk.handshake().find("this collector accepts only"), std::string::npos);
  EXPECT_TRUE(junk.channel->encrypts());
  for (const char first : {'\x14', '\x17'}) {
    Ends collector(SecureChannel::Side::collector);
    collector.say(first + std::string("\3\3\0\5junk!", 9));
    EXPECT_EQ(collector.handshake().find("this collector accepts only"), 0u) << int(first);
  }
}

TEST(TlsPeer, OneThatGoesAwayEndsTheHandshake) {
  Ends collector(SecureChannel::Side::collector);
  EXPECT_EQ(collector.handshake(), "");
  collector.peer = UniqueFd();
  EXPECT_EQ(collector.handshake(),
            "the TLS handshake failed: The TLS connection was non-properly terminated.");
}

TEST(TlsPeer, OfACollectorWithoutAKeyIsFoundByItsFirstByte) {
  const std::string why =
      "the sender has a key and this collector none: start it with the same --key FILE";
  for (const auto &[first, error] : {std::pair("\x15\3\3", why),
                                     {"\x16\3\1", why},
                                     {"\x14\3\3", std::string()},
                                     {"\x17\3\3", std::string()}}) {
    Ends collector(SecureChannel::Side::collector, {});
    collector.say(first);
    EXPECT_EQ(collector.receive(), error) << int(first[0]);
  }
  Ends later(SecureChannel::Side::collector, {});
  later.say("\1");
  EXPECT_EQ(later.receive(), "");
  later.say("\x16");
  EXPECT_EQ(later.receive(), "") << "a number in a message";
  Ends sender(SecureChannel::Side::sender, {});
  sender.say("\x16");
  EXPECT_EQ(sender.receive(), "") << "a collector speaks TLS only if it is asked to";
}

// SIGPIPE would end the tracer, and the program with it.
TEST(TlsPeer, WritingToOneThatHasGoneIsAnErrorAndNoSignal) {
  Ends plain(SecureChannel::Side::sender, {});
  plain.peer = UniqueFd();
  try {
    plain.channel->send("bytes");
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "Broken pipe");
  }
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
  SecureChannel sender(UniqueFd(fds[0]), SecureChannel::Side::sender, kKey);
  {
    SecureChannel collector(UniqueFd(fds[1]), SecureChannel::Side::collector, kKey);
    while (!(sender.handshake() & collector.handshake()))
      ;
  }
  EXPECT_THROW(for (int n = 0; n < 10; n++) sender.send("bytes"), Error);
}

TEST(TlsPeer, AConnectionThatIsResetIsAnError) {
  Ends plain(SecureChannel::Side::sender, {});
  EXPECT_EQ(plain.channel->send("it will not be read"), 19u);
  plain.peer = UniqueFd();
  EXPECT_EQ(plain.receive(), "Connection reset by peer");
}

} // namespace
} // namespace ovnitrace
