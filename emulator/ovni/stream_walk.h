// SPDX-License-Identifier: BSD-2-Clause
// Finds the streams of an ovni trace in a directory tree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace::ovni {

/// A directory with a stream.
struct StreamPlace {
  std::string path;  ///< of the directory
  std::string shown; ///< the same below the root, for messages
  bool has_meta;     ///< stream.json exists
  bool has_events;   ///< stream.obs exists
};

/// Returns all directories below `root`, itself included, with a stream.json or a stream.obs, by
/// path. Does not follow symbolic links below it. Adds what cannot be read to `unreadable`.
std::vector<StreamPlace> find_streams(const std::string &root,
                                      std::vector<std::string> &unreadable);

/// The owner of a stream by its path `…/loom.L/proc.P/thread.T`; 0 or empty where the path does not
/// say it.
struct PlaceIdentity {
  std::string loom;
  int32_t pid = 0;
  int32_t tid = 0;
};
PlaceIdentity identity_of(const std::string &path);

} // namespace ovnitrace::ovni
