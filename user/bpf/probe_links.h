// SPDX-License-Identifier: BSD-2-Clause
// Attaches a BPF program to the probes of files.
#pragma once

#include "user/bpf/uprobe_links.h"
#include "user/probe/find_probes.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// Attaches one BPF program to every probe of some files. The program gets the number of the probe
/// as its cookie, counted from 0 in the order of the files.
class ProbeLinks {
public:
  /// To be called before `program` is loaded: how it will be attached is part of it.
  void prepare(bpf_program *program) { links_.prepare(program); }
  /// The files are those that were read, whatever has their names now. Returns what the kernel
  /// refused, one message a file; the others are attached.
  std::vector<std::string> attach(const std::vector<ProbedFile> &files);
  /// The program is started no more when it returns.
  void detach() { links_.detach(); }

private:
  UprobeLinks links_;
};

} // namespace ovnitrace
