// SPDX-License-Identifier: BSD-2-Clause
// Reads files of the project, for tests that compare them with tables in the code.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace ovnitrace::test {

/// Returns the path of a file or folder of the project. `path` is relative to the top of the
/// project.
inline std::filesystem::path project_path(const std::string &path) {
  return std::filesystem::path(__FILE__).parent_path() / "../../.." / path;
}

/// Returns the text of a file of the project.
inline std::string project_file(const std::string &path) {
  std::ifstream in(project_path(path));
  if (!in)
    throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the names of the files in a folder of the project.
inline std::vector<std::string> project_files(const std::string &folder) {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(project_path(folder)))
    names.push_back(entry.path().filename());
  return names;
}

/// Returns the code words in the first cells of a table: `a`, `b` of "| `a`, `b` | … |". `head`:
/// the first line of the table.
inline std::set<std::string> first_cells(const std::string &page, const std::string &head) {
  std::istringstream in(project_file(page));
  std::set<std::string> names;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    inside = line == head || (inside && line.starts_with("|"));
    const std::string cell = inside ? line.substr(0, line.find(" | ")) : "";
    for (size_t at = 0, end; (at = cell.find('`', at)) != cell.npos; at = end + 1) {
      end = cell.find('`', at + 1);
      if (line != head)
        names.insert(cell.substr(at + 1, end - at - 1));
    }
  }
  return names;
}

} // namespace ovnitrace::test
