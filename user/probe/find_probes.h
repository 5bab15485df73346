// SPDX-License-Identifier: BSD-2-Clause
// Finds the files whose probes are to be watched.
#pragma once

#include "emulator/base/identity.h"
#include "emulator/base/unique_fd.h"
#include "user/probe/probe.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

/// A file that has probes of ours.
struct ProbedFile {
  std::string path; ///< for messages
  UniqueFd fd;      ///< the very file that was read
  std::vector<Probe> probes;
  size_t not_understood = 0; ///< probes of it that cannot be watched
};

/// The most files that are watched without --probe. Each costs tens of milliseconds at the start
/// and at the end.
constexpr size_t kMostFoundFiles = 16;

/// What is traced.
struct ProbeSearch {
  std::string program = {};            ///< as it will be given to execvp(); may be empty
  Identity identity = {};              ///< who will run it
  std::vector<uint32_t> pids = {};     ///< processes that run already
  std::vector<std::string> files = {}; ///< to be looked at in any case (--probe)
  uint64_t most_bytes = 1ull << 30;    ///< read from all files together; after that, none is opened
};

/// Returns the path at which execvp() finds a program; empty if it finds none. Throws Error if the
/// machine fails.
std::string path_of_program(const std::string &program);

struct FoundProbes {
  std::vector<ProbedFile> files;
  size_t left_out = 0; ///< files with probes beyond kMostFoundFiles
};

/// Finds the probes of the program and the libraries that it needs, as its dynamic loader finds
/// them; or of the files that the processes have mapped to execute. Opens files with the rights of
/// the calling thread. There is a limit to the number of files. Throws Error if one of `files`
/// cannot be read or has no probes. Other files that cannot be read are left out.
FoundProbes find_probes(const ProbeSearch &search);

} // namespace ovnitrace
