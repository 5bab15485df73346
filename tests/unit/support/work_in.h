// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <filesystem>

namespace ovnitrace::test {

/// Works in a directory while it lives.
class WorkIn {
public:
  explicit WorkIn(const std::filesystem::path &directory)
      : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(directory);
  }
  ~WorkIn() { std::filesystem::current_path(before_); }
  WorkIn(const WorkIn &) = delete;
  WorkIn &operator=(const WorkIn &) = delete;

private:
  const std::filesystem::path before_;
};

} // namespace ovnitrace::test
