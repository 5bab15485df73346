// SPDX-License-Identifier: BSD-2-Clause
// Puts one BPF program on many places of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

struct bpf_link;
struct bpf_program;

namespace ovnitrace {

/// Where, and what bpf_get_attach_cookie() says there.
struct UprobeAt {
  uint64_t offset = 0; ///< bytes from the start of the file
  uint64_t cookie = 0;
};

/// The links of one BPF program.
class UprobeLinks {
public:
  UprobeLinks() = default;
  ~UprobeLinks() { detach(); }
  UprobeLinks(const UprobeLinks &) = delete;
  UprobeLinks &operator=(const UprobeLinks &) = delete;

  /// To be called before `program` is loaded: how it will be attached is part of it. `returns`: it
  /// runs where the functions at the places return.
  void prepare(bpf_program *program, bool returns = false);
  /// How many descriptors attach() takes for so many places of one file.
  size_t files_needed(size_t places) const;
  /// 0 or an errno; then what was attached before it stays.
  int attach(const std::string &path, std::span<const UprobeAt> places);
  /// The program is started no more when it returns.
  void detach();

private:
  int attach_all(const std::string &path, std::span<const UprobeAt> places);
  int attach_each(const std::string &path, std::span<const UprobeAt> places);

  bpf_program *program_ = nullptr;
  bool returns_ = false;
  bool at_once_ = false;          ///< the kernel can attach all places of a file with one link
  std::vector<int> fds_;          ///< links, where it can
  std::vector<bpf_link *> links_; ///< where it cannot
};

} // namespace ovnitrace
