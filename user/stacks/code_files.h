// SPDX-License-Identifier: BSD-2-Clause
// Keeps the files open that code was mapped from.
#pragma once

#include "emulator/base/clock.h"
#include "emulator/base/unique_fd.h"
#include "emulator/symbols/elf_symbols.h"
#include "user/stacks/mappings.h"

#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {

/// Opens files of code as their processes see them, also in a container, and keeps them open. They
/// are then known after they were deleted or replaced. Any thread may use it.
class CodeFiles {
public:
  static constexpr size_t kMost = 1024; ///< files that are kept

  /// Who mapped a file, and when.
  struct Use {
    const CodeFile *file;
    FirstUse by;
  };
  /// Opens the files that are not open yet. A file that was changed after it was mapped is not
  /// opened. With more than kMost, none is opened any more.
  void open(const std::vector<Use> &uses);

  struct Opened {
    ElfSymbols::Files files; ///< they stay open as long as this object lives; -1: not known
    bool changed = false;    ///< what is there now is not what was mapped
  };
  Opened find(const CodeFile &file) const;
  /// Opens the debug data of new files that are in containers. Call it soon: a container can end.
  void look_into_containers();

  /// Searches for debug data of the files that have none, by `fetch`, which takes a build id.
  using Fetch = std::function<UniqueFd(const std::string &build_id)>;
  void find_debug_data(const std::vector<CodeFile> &files, const Fetch &fetch);

private:
  struct Kept {
    UniqueFd file, debug;
    timespec modified = {};
    bool changed = false;
  };

  const uint64_t since_ = monotonic_ns(); ///< what was mapped before was right then
  mutable std::mutex lock_;
  std::map<CodeFile, Kept> files_;
  std::vector<std::pair<CodeFile, UniqueFd>> containers_; ///< files, roots not yet looked into
};

} // namespace ovnitrace
