// SPDX-License-Identifier: BSD-2-Clause
// Receives the traces of other machines (`ovnitrace collect`).
#pragma once

#include "user/net/endpoint.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

struct CollectOptions {
  std::vector<Endpoint> listen;
  std::string directory = "."; ///< where trace directories are made; made itself if it is not there
  std::string key_file;        ///< for TCP; empty: without a key
  uint64_t trace_bytes = 0;    ///< of one trace; 0: no limit
  unsigned senders = 64;       ///< at once, for each of `listen`
  bool quiet = false;          ///< prints errors only
};

/// Collects until INT, QUIT, TERM or HUP. Prints on stderr where it listens and what comes of each
/// trace. The exit status: 0, or kExitIncomplete if some trace is not complete. Throws Error.
int collect(const CollectOptions &options);

} // namespace ovnitrace
