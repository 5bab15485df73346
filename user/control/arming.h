// SPDX-License-Identifier: BSD-2-Clause
// Puts the probes of a plan into the traced processes, and into no other.
#pragma once

#include "emulator/base/identity.h"
#include "emulator/base/unique_fd.h"
#include "user/control/places.h"
#include "user/control/probes.h"
#include "user/probe/mapped_files.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

struct stat;

namespace ovnitrace::control {

/// Finds the places of alarms in files, and sets probes there. A file is examined once, however
/// many processes execute it. Each process gets its own probes.
class Arming {
public:
  /// Takes what is to be said to the user, a line each.
  using Say = std::function<void(const std::string &)>;

  /// `kernel` sets the probes; null: nothing is probed, only found (ovnitrace control --check).
  Arming(const Plan &plan, Probes *kernel, Say say);

  /// Looks at the program, as execvp() finds it, and at the libraries that it needs. Opens files
  /// with the rights of `identity`. Nothing is probed before the program runs. Throws Error if it
  /// is not found.
  void look_at_program(const std::string &name, const Identity &identity);
  /// Probes what a process has loaded now, while it is stopped. In a process without a dynamic
  /// loader, only its own file is probed. Such a process (Valgrind, for example) may map other
  /// files to read and translate them, and would take the probes for instructions.
  void look_at_process(uint32_t pid);
  bool has_looked_at(uint32_t pid) const { return processes_.count(pid) > 0; }
  /// Forgets a process that has ended. `now`: it lives on, but its probes are of no use to what it
  /// has become, and are removed at once.
  void forget(uint32_t pid, bool now = false);

  /// Reports the alarms that have no place in any file yet, each with names similar to the one that
  /// it looks for. `later`: says what will happen to them.
  void report_missing(const std::string &later) const;
  /// Returns how many places each alarm has.
  const std::vector<uint64_t> &found() const { return found_; }
  bool missing() const;
  /// Refuses alarms that have places, but none that can be probed, and addresses at which nothing
  /// is ever loaded. Throws Error with status 2 and a
  /// caret. Call it after the program and its libraries, or the processes, were examined.
  /// Places of later files that cannot be probed are only reported.
  void refuse_impossible();
  bool has_loader() const { return has_loader_; } ///< a file can load more later

private:
  bool needs_probe(size_t alarm) const;
  bool may_hold_address(const MappedFile &mapped) const;
  void look_for_addresses(uint32_t pid, const MappedFile &mapped, bool own);
  void add(Places &places, const std::string &path);
  void say(const std::string &line);
  [[noreturn]] void refuse(size_t alarm, const std::string &why) const;
  /// A file with its contents: another build may have been written over it.
  struct FileId {
    uint64_t device, inode, size;
    int64_t changed_s, changed_ns; ///< st_mtim
    auto operator<=>(const FileId &) const = default;
  };
  static FileId id_of(const struct stat &status);
  struct File {
    Places places;
    bool is_program = false; ///< or a library, of this machine
    bool has_interpreter = false;
  };
  struct Process {
    std::optional<FileId> program; ///< that it executes
    std::set<FileId> probed;
  };

  static std::optional<FileId> program_of(uint32_t pid);
  const File *look(const std::string &path, int fd);
  void limit(const std::string &path, Places &places);
  void arm(uint32_t pid, const MappedFile &file, const Places &places, bool own);

  const Plan &plan_;
  Probes *const kernel_;
  const Say say_;
  std::map<FileId, File> files_;
  std::map<uint32_t, Process> processes_;
  std::set<std::string> said_;
  std::vector<uint64_t> found_;
  std::vector<std::vector<std::string>> near_; ///< by alarm
  std::vector<std::string> hints_;             ///< by alarm, as Places::hints
  std::vector<Unfit> unfit_;         ///< until it is known whether the alarm has another place
  uint64_t named_ = 0;               ///< alarms, a bit each: some place of it is unfit
  uint64_t as_linked_ = 0;           ///< as Places::as_linked
  std::vector<uint64_t> in_program_; ///< as found_, without libraries; empty: not known
  bool runs_ = false;                ///< nothing is refused any more
  size_t probes_ = 0;
  bool has_loader_ = false;
};

} // namespace ovnitrace::control
