// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/single_step.h"

#include "emulator/base/error.h"
#include "user/control/tracer.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ovnitrace::control {

SingleStep::SingleStep(const Plan &plan, Chains &chains) : chains_(chains) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
    socket_ = UniqueFd(ends[0]);
    UniqueFd theirs(ends[1]);
    process_ = fork();
    if (process_ == 0) {
      socket_ = UniqueFd(); // so that it ends when we do
      try {
        Tracer(plan, chains, theirs.get()).run();
      } catch (...) { // what our parent's threads use must not be destroyed here
        _exit(1);
      }
      _exit(0);
    }
  }
  if (process_ < 0)
    throw ovnitrace::Error("--control: cannot start the process that counts instructions: {}",
                           std::strerror(errno));
  chains_.stop_for_tracer(true);
}

SingleStep::~SingleStep() {
  chains_.stop_for_tracer(false);
  socket_ = UniqueFd();
  TEMP_FAILURE_RETRY(waitpid(process_, nullptr, 0));
}

void SingleStep::trace(uint32_t tid) {
  send_step(socket_.get(), {StepMessage::trace, 0, tid});
  StepMessage answer = {.kind = StepMessage::trace, .pid = 0, .tid = tid, .error = ESRCH};
  TEMP_FAILURE_RETRY(recv(socket_.get(), &answer, sizeof(answer), 0));
  if (answer.error)
    throw ovnitrace::Error(
        "--control: icount, uniform and int3 need ptrace, which the kernel refuses for {}: {}; is "
        "a debugger or strace attached to it, or CAP_SYS_PTRACE missing?",
        tid, std::strerror(answer.error));
}

void SingleStep::look(uint32_t pid, uint32_t tid) {
  send_step(socket_.get(), {StepMessage::look, pid, tid});
}

std::optional<SingleStep::Held> SingleStep::next_held() {
  StepMessage message;
  const ssize_t bytes = recv(socket_.get(), &message, sizeof(message), MSG_DONTWAIT);
  if (bytes == 0) {
    chains_.stop_for_tracer(false);
    socket_ = UniqueFd();
    throw ovnitrace::Error(
        "the process that counts instructions has ended: icount, uniform and int3 no longer hit");
  }
  if (bytes != sizeof(message) || message.kind != StepMessage::held)
    return std::nullopt;
  return Held{message.pid, message.tid};
}

void SingleStep::release(uint32_t tid) {
  send_step(socket_.get(), {StepMessage::release, 0, tid});
}

} // namespace ovnitrace::control
