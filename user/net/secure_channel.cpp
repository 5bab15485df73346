// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/secure_channel.h"

#include "emulator/base/error.h"

#include <gnutls/gnutls.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

namespace ovnitrace {

namespace {

/// Only what needs the key, and an exchange of fresh keys beside it: who gets the key later cannot
/// read what was sent before. The hash that goes with an external key is SHA-256 (RFC
/// 8446, 4.2.11).
constexpr char kPriority[] =
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:-KX-ALL:+ECDHE-PSK:-CIPHER-ALL:+AES-128-GCM:"
    "+CHACHA20-POLY1305:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1";

constexpr unsigned char kTlsAlert = 21,
                        kTlsHandshake = 22; ///< types of the records that come first

bool is_tls(char first) {
  return first == kTlsAlert || first == kTlsHandshake;
}

bool later(int error) {
  return error == GNUTLS_E_AGAIN || error == GNUTLS_E_INTERRUPTED;
}

void check(int error) {
  if (error < 0)
    throw Error("cannot prepare TLS: {}", gnutls_strerror(error));
}

} // namespace

struct SecureChannel::Tls {
  Tls(int fd, Side side, const PresharedKey &preshared) : fd(fd), key(preshared) {
    const bool sends = side == Side::sender;
    check(gnutls_init(&session, (sends ? GNUTLS_CLIENT : GNUTLS_SERVER) | GNUTLS_NONBLOCK |
                                    GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS));
    check(gnutls_priority_set_direct(session, kPriority, nullptr));
    if (sends) {
      const gnutls_datum_t datum = {key.data(), unsigned(key.size())};
      check(gnutls_psk_allocate_client_credentials(&client));
      check(gnutls_psk_set_client_credentials(client, kPskIdentity, &datum, GNUTLS_PSK_KEY_RAW));
      check(gnutls_credentials_set(session, GNUTLS_CRD_PSK, client));
    } else {
      check(gnutls_psk_allocate_server_credentials(&server));
      gnutls_psk_set_server_credentials_function(server, find_key);
      check(gnutls_credentials_set(session, GNUTLS_CRD_PSK, server));
    }
    gnutls_session_set_ptr(session, this);
    gnutls_handshake_set_timeout(session, GNUTLS_INDEFINITE_TIMEOUT); // the caller has one
    gnutls_transport_set_int(session, fd);
    gnutls_transport_set_ptr2(session, this, reinterpret_cast<void *>(intptr_t(fd)));
    gnutls_transport_set_pull_function(session, pull);
  }
  ~Tls() {
    if (session)
      gnutls_deinit(session);
    if (client)
      gnutls_psk_free_client_credentials(client);
    if (server)
      gnutls_psk_free_server_credentials(server);
  }
  Tls(const Tls &) = delete;
  Tls &operator=(const Tls &) = delete;

  static int find_key(gnutls_session_t session, const char *identity, gnutls_datum_t *found) {
    const Tls &tls = *static_cast<Tls *>(gnutls_session_get_ptr(session));
    if (std::strcmp(identity, kPskIdentity) != 0)
      return -1;
    found->data = static_cast<unsigned char *>(gnutls_malloc(tls.key.size()));
    if (!found->data)
      return -1;
    found->size = unsigned(tls.key.size());
    std::memcpy(found->data, tls.key.data(), tls.key.size());
    return 0;
  }

  /// Looks at the first byte, to tell a peer that speaks another protocol from a wrong key.
  static ssize_t pull(gnutls_transport_ptr_t self, void *data, size_t size) {
    Tls &tls = *static_cast<Tls *>(self);
    const ssize_t got = recv(tls.fd, data, size, 0);
    if (got > 0 && !std::exchange(tls.any, true) && !is_tls(*static_cast<char *>(data))) {
      tls.foreign = true;
      errno = EPROTO;
      return -1;
    }
    return got;
  }

  const int fd;
  PresharedKey key;
  gnutls_session_t session = nullptr;
  gnutls_psk_client_credentials_t client = nullptr;
  gnutls_psk_server_credentials_t server = nullptr;
  bool any = false;       ///< something came
  bool foreign = false;   ///< and it is no TLS
  bool ready = false;     ///< the handshake is done
  bool half_sent = false; ///< bytes that were given wait inside
};

SecureChannel::SecureChannel(UniqueFd fd, Side side, const std::optional<PresharedKey> &key)
    : fd_(std::move(fd)), side_(side) {
  if (key)
    tls_ = std::make_unique<Tls>(fd_.get(), side, *key);
}

SecureChannel::SecureChannel(SecureChannel &&) noexcept = default;
SecureChannel::~SecureChannel() = default;

bool SecureChannel::handshake() {
  if (!tls_ || tls_->ready)
    return true;
  int error;
  do
    error = gnutls_handshake(tls_->session);
  while (error == GNUTLS_E_INTERRUPTED);
  if (error == GNUTLS_E_SUCCESS)
    tls_->ready = true;
  else if (error != GNUTLS_E_AGAIN && gnutls_error_is_fatal(error))
    fail_handshake(error);
  return tls_->ready;
}

/// Fails the handshake. The other side learns from an alert what is wrong. If it speaks no TLS, it
/// learns it from the caller's words.
void SecureChannel::fail_handshake(int error) {
  const bool collects = side_ == Side::collector;
  if (tls_->foreign) {
    tls_.reset();
    throw Error(collects ? "this collector accepts only senders with its key: give --key FILE"
                         : "the collector has no key, so nothing was sent to it: start it with the "
                           "same --key FILE");
  }
  gnutls_alert_send_appropriate(tls_->session, error);
  const char *const why = error == GNUTLS_E_FATAL_ALERT_RECEIVED
                              ? gnutls_alert_get_name(gnutls_alert_get(tls_->session))
                              : gnutls_strerror(error);
  switch (error) {
  case GNUTLS_E_FATAL_ALERT_RECEIVED: // it found that our proof is wrong
  case GNUTLS_E_RECEIVED_ILLEGAL_PARAMETER:
  case GNUTLS_E_DECRYPTION_FAILED:
    throw Error("wrong key: {} (--key FILE); TLS says: {}",
                collects ? "the sender does not have the collector's"
                         : "the collector does not have the sender's",
                why);
  default:
    throw Error("the TLS handshake failed: {}", why);
  }
}

short SecureChannel::waits_for() const {
  return tls_ && gnutls_record_get_direction(tls_->session) ? POLLOUT : POLLIN;
}

size_t SecureChannel::send(std::string_view bytes) {
  if (!tls_) {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
      throw Error(std::strerror(errno));
    return sent > 0 ? size_t(sent) : 0;
  }
  const ssize_t sent = tls_->half_sent
                           ? gnutls_record_send(tls_->session, nullptr, 0)
                           : gnutls_record_send(tls_->session, bytes.data(), bytes.size());
  tls_->half_sent = later(int(sent));
  if (sent < 0 && !tls_->half_sent)
    throw Error(gnutls_strerror(int(sent)));
  return sent > 0 ? size_t(sent) : 0;
}

std::optional<size_t> SecureChannel::receive(std::span<char> bytes) {
  if (tls_) {
    const ssize_t got = gnutls_record_recv(tls_->session, bytes.data(), bytes.size());
    if (got >= 0)
      return size_t(got);
    if (got == GNUTLS_E_PREMATURE_TERMINATION)
      return 0;
    if (gnutls_error_is_fatal(int(got)))
      throw Error(gnutls_strerror(int(got)));
    return std::nullopt;
  }
  const ssize_t got = recv(fd_.get(), bytes.data(), bytes.size(), 0);
  if (got < 0 && errno != EAGAIN && errno != EINTR)
    throw Error(std::strerror(errno));
  if (got > 0 && std::exchange(first_, false) && side_ == Side::collector && is_tls(bytes[0]))
    throw Error("the sender has a key and this collector none: start it with the same --key FILE");
  return got >= 0 ? std::optional(size_t(got)) : std::nullopt;
}

bool SecureChannel::has_input() const {
  return tls_ && gnutls_record_check_pending(tls_->session) > 0;
}

} // namespace ovnitrace
