// SPDX-License-Identifier: BSD-2-Clause
// Reads the code of a program or library, and finds its functions by name.
#pragma once

#include "user/control/bodies.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace::control {

/// A symbol that is a function.
struct Function {
  std::string name; ///< as the linker has it
  uint64_t address = 0;
  uint64_t size = 0; ///< bytes; 0: not known
};

/// Consecutive code of a file.
struct Code {
  uint64_t address = 0; ///< of its first byte, as the file was linked
  uint64_t offset = 0;  ///< of it in the file
  std::vector<uint8_t> bytes;
};

struct Image {
  std::string path;                ///< for messages, and what IMAGE+OFFSET is compared with
  std::string build_id;            ///< hexadecimal; empty: not known
  uint64_t device = 0, inode = 0;  ///< of the file, which may have other paths
  bool fixed = false;              ///< it is always loaded where it was linked for (ET_EXEC)
  bool has_interpreter = false;    ///< a dynamic loader loads it, and may load libraries later
  int read_error = 0;              ///< errno of the last part that could not be read
  uint64_t base = 0;               ///< lowest address that it was linked for
  std::vector<Code> code;          ///< of executable sections
  std::vector<Function> functions; ///< of its symbols and those of its separate debug file
  std::vector<Body> bodies; ///< of its functions, by unwind information and symbols; by start
  /// Symbols without code of their own (IFUNC): each process chooses a function for them.
  std::vector<Function> indirect; ///< each with the address of what chooses

  /// Returns where in the file the instruction of an address is; nothing if it is no code.
  std::optional<uint64_t> offset_of(uint64_t address) const;
  /// Returns up to `most` bytes of code, from an address on.
  std::string_view bytes_at(uint64_t address, size_t most) const;
};

/// Reads a program. Returns nothing if it is not for this kind of machine. Its owner may have
/// written anything, so all of it is checked, and memory is bounded. `fd` stays the caller's.
std::optional<Image> read_image(const std::string &path, int fd);

/// How a name is meant.
enum class Naming : uint8_t {
  bare, ///< enter_func: without namespace and parameters
  any,  ///< address: that, or the name with any of them, or as the linker has it
};

/// Addresses of the functions of that name, each once, in order. A Fortran function is also found
/// without its underscore, and foo.constprop.0 by the name foo. C++ names are demangled in a child
/// process (demangle_all).
std::vector<uint64_t> find_functions(const Image &image, std::string_view name, Naming naming);

/// Returns whether the image has the name only as one that each process chooses a function for
/// (IFUNC).
bool is_indirect(const Image &image, std::string_view name, Naming naming);

/// Returns up to `most` functions that a process may choose for an indirect one: their names
/// contain its name.
std::vector<std::string> implementations(const Image &image, std::string_view name, size_t most);

/// Returns the functions of the image with similar names, the most similar first; at most `most`.
std::vector<std::string> nearest_names(const Image &image, std::string_view name, size_t most);

} // namespace ovnitrace::control
