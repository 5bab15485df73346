// SPDX-License-Identifier: BSD-2-Clause
// Loads the BPF object that says which device woke a thread, and when a throttled one may run
// again.
#pragma once

#include "user/bpf/capture.h"

#include <cstdint>
#include <memory>

struct causes_bpf;

namespace ovnitrace {

/// Loads and attaches bpf/causes.bpf.c, as far as the running kernel allows it. It throws no Error
/// for what the kernel refuses: the debug log says why, and the capture goes on without it.
class CauseCapture {
public:
  /// `capture` outlives it.
  explicit CauseCapture(const Capture &capture);

  /// Starts to see devices and refills. Call it after Capture::attach().
  void attach();
  /// Stops that. Call it before Capture::detach(), which waits for the programs that run.
  void detach();

  /// Returns whether it is recorded when throttled threads may run again. After attach().
  bool sees_refills() const;
  /// Returns the devices by their place (CAPTURE_DEVICES of them, dev_t, 0: none), written by the
  /// kernel until detach(). Null where devices are not seen.
  const uint32_t *devices() const;

private:
  bool load(const Capture &capture);
  /// Goes on without what failed with this errno. Says so, unless the kernel is too old for it.
  void do_without(int error);

  /// Null: the kernel takes none of it.
  std::unique_ptr<causes_bpf, void (*)(causes_bpf *)> skeleton_;
  bool sees_refills_ = false;
};

} // namespace ovnitrace
