// SPDX-License-Identifier: BSD-2-Clause
// Where in a directory tree the streams of an ovni trace are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace::ovni {

/// One directory that holds a stream.
struct StreamPlace {
  std::string path;  ///< of the directory
  std::string shown; ///< the same below the root, for messages
  bool has_meta;     ///< stream.json is there
  bool has_events;   ///< stream.obs is there
};

/// All directories below `root`, itself included, with a stream.json or a stream.obs, by path.
/// Symbolic links below it are not followed. What cannot be read is added to `unreadable`.
std::vector<StreamPlace> find_streams(const std::string &root,
                                      std::vector<std::string> &unreadable);

/// Who a stream belongs to by its place `…/loom.L/proc.P/thread.T`; 0 or empty where the path does
/// not say.
struct PlaceIdentity {
  std::string loom;
  int32_t pid = 0;
  int32_t tid = 0;
};
PlaceIdentity identity_of(const std::string &path);

} // namespace ovnitrace::ovni
