// SPDX-License-Identifier: BSD-2-Clause
// Attaches one BPF program to many places of files.
#pragma once

#include "emulator/base/unique_fd.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct bpf_link;
struct bpf_program;

namespace ovnitrace {

/// Where, and what bpf_get_attach_cookie() says there.
struct UprobeAt {
  uint64_t offset = 0; ///< bytes from the start of the file
  uint64_t cookie = 0;
};

struct DestroyLink {
  void operator()(bpf_link *link) const;
};

/// Probes that are set. The destructor takes them away: that waits for all CPUs, some 10 ms.
struct UprobeHold {
  std::vector<UniqueFd> fds; ///< links, where the kernel sets all places of a file with one
  std::vector<std::unique_ptr<bpf_link, DestroyLink>> links; ///< where it cannot
};

/// The links of one BPF program.
class UprobeLinks {
public:
  static constexpr uint32_t kAllProcesses = 0;

  UprobeLinks() = default;
  UprobeLinks(const UprobeLinks &) = delete;
  UprobeLinks &operator=(const UprobeLinks &) = delete;

  /// Prepares the program for the way in which it will be attached. Call it before `program` is
  /// loaded.
  void prepare(bpf_program *program);
  /// Returns how many descriptors attach() takes for so many places of one file.
  size_t files_needed(size_t places) const;
  /// Sets the probes for one process, and returns 0 or an errno. After an error, what was attached
  /// before stays. The kernel changes no other process's code, except in children that the process
  /// forks. In a child, the BPF program runs only after attach() was called for the child, too.
  int attach(const std::string &path, std::span<const UprobeAt> places, uint32_t process);
  /// Returns what was attached for the process.
  UprobeHold take(uint32_t process);
  /// Returns what was attached for all processes.
  std::vector<UprobeHold> take_all();
  /// Detaches all places. When it returns, no run of the program starts any more.
  void detach() { holds_.clear(); }

private:
  int attach_all(const std::string &path, std::span<const UprobeAt> places, uint32_t process);
  int attach_each(const std::string &path, std::span<const UprobeAt> places, uint32_t process);

  bpf_program *program_ = nullptr;
  bool at_once_ = false; ///< the kernel can attach all places of a file with one link
  std::map<uint32_t, UprobeHold> holds_; ///< by process
};

} // namespace ovnitrace
