// SPDX-License-Identifier: BSD-2-Clause
// A directory of a test, gone with all it holds when the test ends.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace ovnitrace::test {

class TempDir {
public:
  TempDir() {
    std::string name = std::filesystem::temp_directory_path() / "ovnitrace-test-XXXXXX";
    if (!mkdtemp(name.data()))
      throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir &) = delete;
  TempDir &operator=(const TempDir &) = delete;

  const std::string &path() const { return path_; }
  /// The path of something in it.
  std::string operator/(const std::string &name) const { return path_ + "/" + name; }

private:
  std::string path_;
};

} // namespace ovnitrace::test
