// SPDX-License-Identifier: BSD-2-Clause
// Reads stream.json, which describes the stream beside it.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace::ovni {

/// The keys are those of ovni's trace specification, metadata version 3. Name, parent and birth are
/// ovnitrace's own ("ovnitrace": {…}); the export writes them so that a thread keeps its name.
struct StreamMeta {
  bool is_thread = true;         ///< "ovni.part" is "thread"; other parts have no thread model
  int32_t tid = 0;               ///< 1 to INT32_MAX; 0: the file does not say
  int32_t pid = 0;               ///< likewise
  std::string loom;              ///< empty: the file does not say
  std::optional<int32_t> rank;   ///< MPI rank of the process
  std::optional<int32_t> nranks; ///< their number, if there is a rank
  std::optional<int32_t> app_id; ///< of the process
  std::set<char> models;         ///< letters of the required models
  std::vector<std::pair<uint32_t, uint32_t>> cpus; ///< (index, phyid) of the loom
  std::vector<MarkType> marks;
  std::string name;
  uint32_t parent = 0;
  uint64_t birth = 0;
};

/// Reads the file at `path` and adds to `problems` what is wrong, one sentence each. Returns what
/// can be used; nothing if the file is not a JSON object.
std::optional<StreamMeta> read_stream_meta(const std::string &path,
                                           std::vector<std::string> &problems);

/// Does the same for the text of the file.
std::optional<StreamMeta> parse_stream_meta(const std::string &text,
                                            std::vector<std::string> &problems);

} // namespace ovnitrace::ovni
