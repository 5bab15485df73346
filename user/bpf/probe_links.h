// SPDX-License-Identifier: BSD-2-Clause
// Puts a BPF program on the probes of files.
#pragma once

#include "user/probe/find_probes.h"

#include <cstddef>
#include <string>
#include <vector>

struct bpf_link;
struct bpf_program;

namespace ovnitrace {

/// The links of one BPF program that runs at every probe, with the number of the probe as its
/// cookie: they are counted from 0 in the order of the files.
class ProbeLinks {
public:
  ProbeLinks() = default;
  ~ProbeLinks() { detach(); }
  ProbeLinks(const ProbeLinks &) = delete;
  ProbeLinks &operator=(const ProbeLinks &) = delete;

  /// To be called before `program` is loaded: how it will be attached is part of it.
  void prepare(bpf_program *program);
  /// The files are those that were read, whatever has their names now. Returns what the kernel
  /// refused, one message a file; the others are attached.
  std::vector<std::string> attach(const std::vector<ProbedFile> &files);
  /// The program is started no more when it returns.
  void detach();

private:
  int attach_all(const ProbedFile &file, size_t first);
  int attach_each(const ProbedFile &file, size_t first);

  bpf_program *program_ = nullptr;
  bool at_once_ = false;          ///< the kernel can attach all probes of a file with one link
  std::vector<int> fds_;          ///< links, where it can
  std::vector<bpf_link *> links_; ///< where it cannot
};

} // namespace ovnitrace
