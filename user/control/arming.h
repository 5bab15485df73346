// SPDX-License-Identifier: BSD-2-Clause
// Puts the probes of a plan into the files that traced processes execute.
#pragma once

#include "emulator/base/identity.h"
#include "emulator/base/unique_fd.h"
#include "user/control/places.h"
#include "user/control/programs.h"
#include "user/probe/mapped_files.h"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace::control {

/// Files by what they are, each looked at once, however many processes execute it.
class Arming {
public:
  /// Takes what is to be said to the user, a line each.
  using Say = std::function<void(const std::string &)>;

  /// `programs` null: nothing is armed, only found (ovnitrace control --check).
  Arming(const Plan &plan, Programs *programs, Say say);

  /// The program as execvp() finds it, and the libraries that it needs. Opens files with the rights
  /// of `identity`. Throws Error if there is no such program.
  void look_at_program(const std::string &name, const Identity &identity);
  /// What a process has loaded now.
  void look_at_process(uint32_t pid);

  /// The alarms that can hit nowhere yet, each with the names that are near to what it looks for.
  /// `later`: what will become of them.
  void report_missing(const std::string &later) const;
  /// How many places each alarm has.
  const std::vector<uint64_t> &found() const { return found_; }
  bool missing() const;
  bool has_loader() const { return has_loader_; } ///< a file can load more later

private:
  bool needs_probe(size_t alarm) const;
  void look(const std::string &path, int fd, const MappedFile *mapped);
  void arm(const std::string &path, int fd, const Places &places);

  const Plan &plan_;
  Programs *const programs_;
  const Say say_;
  std::set<std::pair<uint64_t, uint64_t>> seen_; ///< device and inode
  std::set<std::string> said_;
  std::vector<uint64_t> found_;
  std::vector<std::vector<std::string>> near_; ///< by alarm
  size_t probes_ = 0;
  bool has_loader_ = false;
};

} // namespace ovnitrace::control
