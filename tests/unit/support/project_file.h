// SPDX-License-Identifier: BSD-2-Clause
// Reads files of the project, for tests that compare them with tables in the code.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace ovnitrace::test {

/// Returns the text of a file of the project. `path` is relative to the top of the project.
inline std::string project_file(const std::string &path) {
  const auto top = std::filesystem::path(__FILE__).parent_path() / "../../..";
  std::ifstream in(top / path);
  if (!in)
    throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace ovnitrace::test
