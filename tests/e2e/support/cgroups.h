// SPDX-License-Identifier: BSD-2-Clause
// Cgroups of a test, removed after it.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace ovnitrace::test {

/// Where hierarchies are mounted that any process can be put into: version 2, and of version 1 the
/// one named systemd or that of the freezer.
std::vector<std::string> cgroup_places();

/// A cgroup below the root of a hierarchy, with others inside it.
class TestCgroup {
public:
  TestCgroup(const std::string &place, const std::string &name);
  ~TestCgroup(); ///< kills what is still in it
  TestCgroup(const TestCgroup &) = delete;
  TestCgroup &operator=(const TestCgroup &) = delete;

  const std::string &path() const { return path_; }
  void add(const std::string &inside); ///< makes a cgroup in it: "a" or "a/in"
  static void move(pid_t pid, const std::string &cgroup);

private:
  std::string path_;
};

} // namespace ovnitrace::test
