// SPDX-License-Identifier: BSD-2-Clause
// Tells which file's code was at an address of a process at a time.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ovnitrace {

/// A file that code was mapped from.
struct CodeFile {
  std::string path;
  uint64_t inode = 0;
  uint64_t device = 0; ///< as makedev()
  auto operator<=>(const CodeFile &) const = default;
};

/// What a process has mapped, and when. Any thread may use it while the Mappings that it is from
/// exist.
class MappedCode {
public:
  struct Place {
    const CodeFile *file = nullptr; ///< nullptr: code in no file
    uint64_t offset = 0;            ///< bytes in the file
    bool known = false;             ///< false: nothing that is known was mapped there
  };
  Place find(uint64_t time, uint64_t address) const;

  struct Piece {
    uint64_t start, end, offset, time;
    int generation; ///< 0: mapped by the process itself, 1: by the one that forked it, …
    const CodeFile *file;
  };
  const std::vector<Piece> &pieces() const { return pieces_; }

private:
  friend class Mappings;
  std::vector<Piece> pieces_;
};

/// Who mapped a file first.
struct FirstUse {
  uint32_t pid = 0;
  uint64_t time = 0; ///< ns
};

/// Keeps the mappings of executable code of all processes. The kernel does not report what is
/// unmapped. A mapping therefore stays until something else is mapped over it, and the same code
/// that is mapped at its place again takes no more room. Times are ns. Mappings may be added in any
/// order of time.
class Mappings {
public:
  static constexpr uint32_t kNoFile = UINT32_MAX; ///< code in no file: made by the process itself
  static constexpr uint32_t kNoLife = UINT32_MAX;
  static constexpr size_t kMost = 1 << 20; ///< mappings that are kept, and lives of processes
  static constexpr size_t kMostPathBytes = 64 << 20; ///< of the files in which code is

  struct Place {
    uint32_t file = kNoFile; ///< index into files()
    uint64_t offset = 0;     ///< bytes in the file
    bool known = false;      ///< false: nothing that is known was mapped there
  };

  /// `start` to `end`: addresses; `offset`: in the file, of `start`.
  void map(uint32_t pid, uint64_t time, uint64_t start, uint64_t end, uint64_t offset,
           const CodeFile &file);
  void fork(uint32_t pid, uint32_t parent, uint64_t time);
  void exec(uint32_t pid, uint64_t time);

  /// Returns the number of the life of the process that has this pid at `time`. A fork or an execve
  /// starts a life, which lasts until the next one of the pid. kNoLife if there are kMost lives.
  uint32_t life(uint32_t pid, uint64_t time);
  Place find(uint32_t life, uint64_t time, uint64_t address) const;
  /// Returns everything that is known of a life by now.
  std::shared_ptr<const MappedCode> code(uint32_t life);
  /// Returns how often, up to `time`, code was mapped over other code.
  uint32_t replacements(uint32_t life, uint64_t time) const;
  /// New code in the place of other code.
  struct Replaced {
    uint32_t life;
    uint64_t start, end; ///< addresses
  };
  /// Returns where that happened since the last call.
  std::vector<Replaced> newly_replaced() { return std::exchange(replaced_, {}); }
  /// Says that changes up to `time` are not known here.
  void miss(uint64_t time) { missed_ = std::max(missed_, time); }
  /// Returns whether a life may have other mappings than those here. Only a life that an execve has
  /// started since then, and those that it forks, have not.
  bool is_doubtful(uint32_t life) const;
  const std::deque<CodeFile> &files() const { return files_; }
  const std::vector<FirstUse> &first_uses() const { return first_uses_; } ///< of files()
  uint64_t left_out() const { return left_out_; }                         ///< mappings beyond kMost

private:
  struct Mapping {
    uint64_t end, offset, time;
    uint32_t file;
  };
  struct Life {
    uint64_t since;
    uint32_t parent = kNoLife;                 ///< it has what that one had then
    std::multimap<uint64_t, Mapping> mappings; ///< by start; of equal ones in the order of map()
    uint64_t longest = 0;                      ///< bytes of one
    std::vector<uint64_t> replaced; ///< when code was mapped in the place of other code, sorted
  };

  uint32_t start_life(uint32_t pid, uint64_t since, uint32_t parent);
  uint32_t file(const CodeFile &file, FirstUse use);
  static bool is_known(const Life &life, uint64_t start, const Mapping &mapping);
  bool replaces(uint32_t life, uint64_t start, uint64_t end, const Mapping &mapping) const;

  std::vector<Life> lives_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> by_pid_; ///< its lives, by time
  std::deque<CodeFile> files_;                                 ///< they stay where they are
  std::vector<FirstUse> first_uses_;
  std::map<CodeFile, uint32_t> file_numbers_;
  size_t mappings_ = 0;
  size_t path_bytes_ = 0; ///< of all files
  uint64_t left_out_ = 0;
  uint64_t changes_ = 0; ///< of mappings
  uint64_t missed_ = 0;  ///< until then, changes are not known
  std::vector<Replaced> replaced_;

  struct KnownCode {
    uint64_t changes = 0;
    std::shared_ptr<const MappedCode> code;
  };
  std::unordered_map<uint32_t, KnownCode> code_; ///< by life: the last result of code()
};

} // namespace ovnitrace
