// SPDX-License-Identifier: BSD-2-Clause
#include "user/launch/terminal_filter.h"

#include "emulator/base/error.h"

#include <asm/unistd.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>

namespace ovnitrace {

namespace {

/// The numbers of ioctl(2) in the two sets of system calls that a machine has.
#if defined(__x86_64__)
constexpr uint32_t kArch = AUDIT_ARCH_X86_64, kIoctl = __NR_ioctl;
constexpr uint32_t kSecondIoctl = 0x40000000 + 514; // of x32, which is the same architecture
constexpr uint32_t kIoctl32 = 54;
#elif defined(__aarch64__)
constexpr uint32_t kArch = AUDIT_ARCH_AARCH64, kIoctl = __NR_ioctl, kSecondIoctl = kIoctl;
constexpr uint32_t kIoctl32 = 54;
#else
#error "the numbers of ioctl on this architecture are not known here"
#endif

constexpr sock_filter load(size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, uint32_t(offset));
}

/// Skips `yes` instructions if what was loaded is `value`, else `no`.
constexpr sock_filter equals(uint32_t value, uint8_t yes, uint8_t no) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no);
}

constexpr sock_filter answer(uint32_t action) {
  return BPF_STMT(BPF_RET | BPF_K, action);
}

/// The kernel looks at the low 32 bits of a request only, and so does this: little endian.
sock_filter kFilter[] = {
    load(offsetof(seccomp_data, arch)),
    equals(kArch, 0, 3),
    load(offsetof(seccomp_data, nr)),
    equals(kIoctl, 4, 0),
    equals(kSecondIoctl, 3, 2),
    load(offsetof(seccomp_data, nr)),
    equals(kIoctl32, 1, 0),
    answer(SECCOMP_RET_ALLOW),
    load(offsetof(seccomp_data, args[1])),
    equals(TIOCSTI, 1, 0),
    equals(TIOCLINUX, 0, 1),
    answer(SECCOMP_RET_ERRNO | EPERM),
    answer(SECCOMP_RET_ALLOW),
};

} // namespace

void protect_terminal() {
  const sock_fprog program = {uint16_t(std::size(kFilter)), kFilter};
  // SPEC_ALLOW: before Linux 5.16 a filter would otherwise slow down what is measured, by
  // mitigations that no program had asked for.
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) != 0)
    throw Error("cannot keep the program from typing into this terminal: seccomp: {}",
                std::strerror(errno));
}

} // namespace ovnitrace
