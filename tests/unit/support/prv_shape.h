// SPDX-License-Identifier: BSD-2-Clause
// A small Paraver trace for tests of its writer.
#pragma once

#include "emulator/prv/prv_writer.h"

#include <sstream>
#include <string>
#include <vector>

namespace ovnitrace::test {

inline std::vector<uint64_t> numbers_of(const std::string &line, char separator = ':') {
  std::vector<uint64_t> numbers;
  std::istringstream in(line);
  for (std::string part; std::getline(in, part, separator);)
    numbers.push_back(uint64_t(std::stoll(part)));
  return numbers;
}

/// A node of 4 CPUs and one of 2; a process of 3 threads on the first, one of 1 on the second.
inline PrvHeader two_nodes() {
  PrvHeader header;
  header.cpus_per_node = {4, 2};
  header.tasks = {{{1, 1, 1}}, {{2}}};
  header.end = 1000;
  header.date = 86400;
  return header;
}

inline const std::vector<PrvRow> kFourRows = {{1, 1}, {1, 2}, {1, 3}, {2, 1}};

} // namespace ovnitrace::test
