// SPDX-License-Identifier: BSD-2-Clause
// What SingleStep and its tracer say to one another, over a socket that keeps messages apart.
#pragma once

#include <sys/socket.h>

#include <cstdint>

namespace ovnitrace::control {

struct StepMessage {
  enum Kind : uint32_t {
    trace,   ///< to the tracer: a thread, `tid`; and back, with `error`, an errno
    look,    ///< to the tracer: at threads of `pid` (0: all), or one of them, `tid`
    held,    ///< from the tracer: a thread waits
    release, ///< to the tracer: it may go on
  };
  Kind kind;
  uint32_t pid, tid;
  int32_t error;
};

/// Sends a message. The other end may be gone: the receiver that waits for an answer notices that.
inline void send_step(int socket, const StepMessage &message) {
  (void)!send(socket, &message, sizeof(message), MSG_NOSIGNAL);
}

} // namespace ovnitrace::control
