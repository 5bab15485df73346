// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/cause_capture.h"

#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "user/bpf/bpf_log.h"
#include "user/bpf/cause_programs.h"
#include "user/bpf/kernel_types.h"

#include "causes.skel.h"

#include <bpf/libbpf.h>

#include <cerrno>
#include <cstring>

namespace ovnitrace {

CauseCapture::CauseCapture(const Capture &capture) : skeleton_(nullptr, causes_bpf__destroy) {
  collect_bpf_log();
  if (!load(capture))
    do_without(errno);
}

/// Returns false, with errno set, if the kernel refuses the programs.
bool CauseCapture::load(const Capture &capture) {
  skeleton_.reset(causes_bpf__open());
  causes_bpf *const o = skeleton_.get();
  if (!o)
    return false;
  capture.describe(*o->rodata);
  const KernelTypes types;
  if (capture.share_maps(o->obj) != 0)
    return false;
  quota_timers timers = {};
  if (const int error = capture.find_quota_timers(timers); is_machine_failure(error)) {
    errno = error;
    return false;
  }
  sees_refills_ = prepare_causes(*o, types, timers);
  if (int error = load_skeleton(o->skeleton)) {
    errno = -error;
    return false;
  }
  log_bpf_object(o->obj);
  return true;
}

void CauseCapture::do_without(int error) {
  constexpr const char *kWarning =
      "warning: devices and refills of CPU quotas and budgets are not recorded: {}";
  if (is_machine_failure(error)) // otherwise, this kernel does not have them
    print(kWarning, std::strerror(error));
  else
    log_debug(kWarning, std::strerror(error));
  skeleton_.reset();
}

void CauseCapture::attach() {
  if (!skeleton_)
    return;
  collect_bpf_log();
  if (int error = causes_bpf__attach(skeleton_.get()))
    do_without(-error);
}

void CauseCapture::detach() {
  if (skeleton_)
    causes_bpf__detach(skeleton_.get());
}

bool CauseCapture::sees_refills() const {
  return skeleton_ && sees_refills_;
}

const uint32_t *CauseCapture::devices() const {
  return skeleton_ ? skeleton_->bss->devices : nullptr;
}

} // namespace ovnitrace
