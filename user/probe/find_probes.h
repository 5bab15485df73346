// SPDX-License-Identifier: BSD-2-Clause
// Finds the files whose probes are to be watched.
#pragma once

#include "emulator/base/unique_fd.h"
#include "user/probe/probe.h"

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

/// What is traced.
struct ProbeSearch {
  std::vector<std::string> command = {}; ///< as it will be given to execvp(); may be empty
  uint32_t pid = 0;                      ///< a process that runs already, 0: none
  std::vector<std::string> files =
      {}; ///< paths, or names of libraries, to be looked at in any case (--probe)
};

struct FoundProbes {
  std::vector<ProbedFile> files;
  bool cut_short = false; ///< there was too much to look at: some files may be missing
};

/// The program, the programs that its arguments name, and the libraries that these need, where the
/// dynamic loader could find them in our environment; or the files that the process has mapped to
/// execute. Opens files with the rights that the calling thread has. These files may be made to
/// keep us busy for ever: there is a limit to what is looked at. Throws Error if one of `files`
/// cannot be read or has no probes; whatever else cannot be read has none.
FoundProbes find_probes(const ProbeSearch &search);

} // namespace ovnitrace
