// SPDX-License-Identifier: BSD-2-Clause
// A program or library as the region controller sees it: its code, and its functions by name.
#pragma once

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
};

/// Consecutive code of a file.
struct Code {
  uint64_t address = 0; ///< of its first byte, as the file was linked
  uint64_t offset = 0;  ///< of it in the file
  std::vector<uint8_t> bytes;
};

struct Image {
  std::string path;                ///< for messages, and what IMAGE+OFFSET is compared with
  bool fixed = false;              ///< it is always loaded where it was linked for (ET_EXEC)
  bool has_interpreter = false;    ///< a dynamic loader loads it, and may load libraries later
  uint64_t base = 0;               ///< lowest address that it was linked for
  std::vector<Code> code;          ///< of executable sections
  std::vector<Function> functions; ///< of its symbols and those of its separate debug file

  /// Where in the file the instruction of an address is; nothing if it is no code.
  std::optional<uint64_t> offset_of(uint64_t address) const;
  /// Up to `most` bytes of code from an address on.
  std::string_view bytes_at(uint64_t address, size_t most) const;
};

/// Nothing if it is no program of this machine's kind. The file is its owner's: all that it says is
/// checked, and memory is bounded. `fd` stays the caller's.
std::optional<Image> read_image(const std::string &path, int fd);

/// How a name is meant.
enum class Naming : uint8_t {
  bare, ///< enter_func: without namespace and parameters
  any,  ///< address: that, or the name with any of them, or as the linker has it
};

/// Whether a function has the name that a user gave: also Fortran's with an underscore, and what a
/// compiler made of one function (foo.constprop.0).
bool has_name(const std::string &linker_name, std::string_view wanted, Naming naming);

/// Addresses of the functions of that name, each once, in order.
std::vector<uint64_t> find_functions(const Image &image, std::string_view name, Naming naming);

/// Those of the image's functions whose names are like it, the nearest first; at most `most`.
std::vector<std::string> nearest_names(const Image &image, std::string_view name, size_t most);

} // namespace ovnitrace::control
