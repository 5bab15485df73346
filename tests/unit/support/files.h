// SPDX-License-Identifier: BSD-2-Clause
// What is in a file that a test made.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace::test {

/// All its bytes; empty if there is no such file.
inline std::string text_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

inline std::vector<std::string> lines_of(const std::string &path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  return lines;
}

/// What gunzip makes of a file.
inline std::string gunzip(const std::string &path) {
  gzFile file = gzopen(path.c_str(), "rb");
  std::string text;
  char buffer[4096];
  for (int size; (size = gzread(file, buffer, sizeof buffer)) > 0;)
    text.append(buffer, size_t(size));
  EXPECT_EQ(gzclose(file), Z_OK) << path;
  return text;
}

} // namespace ovnitrace::test
