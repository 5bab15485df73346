// SPDX-License-Identifier: BSD-2-Clause
// Reads the call-frame information of ELF files: how to find the caller of a function.
#pragma once

#include "emulator/base/unique_fd.h"

#include <cstdint>
#include <memory>

namespace ovnitrace {

/// The call-frame information of one ELF file, from .eh_frame and .debug_frame. A hostile file can
/// end the process: use a child process (confined.h).
class CallFrames {
public:
  static constexpr const char *kVdso = "[vdso]"; ///< the path of the code that the kernel maps

  /// Reads a file. Returns nullptr if it is no ELF file of x86-64 or arm64.
  static std::unique_ptr<CallFrames> open(UniqueFd file);
  /// Reads the code that the kernel has mapped into this process. Returns nullptr if it has mapped
  /// nothing.
  static std::unique_ptr<CallFrames> open_vdso();
  ~CallFrames();

  /// Returns the rule (include/ovnitrace/unwind.h) for the instruction at `offset`, in bytes in the
  /// file. `interrupted`: the function may be anywhere in it; otherwise it is in a call there.
  /// Without information on the function, its code shows whether it has a frame pointer. Returns
  /// UNWIND_STOP if it does not, if no call is there, or if the information is not of a form that a
  /// rule can have.
  uint64_t rule_at(uint64_t offset, bool interrupted);

private:
  struct Opened; // the part that uses elfutils
  explicit CallFrames(std::unique_ptr<Opened> elf);
  static std::unique_ptr<CallFrames> read(std::unique_ptr<Opened> opened);
  uint64_t rule_of_code(uint64_t offset, bool interrupted);

  std::unique_ptr<Opened> elf_;
};

} // namespace ovnitrace
