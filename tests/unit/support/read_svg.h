// SPDX-License-Identifier: BSD-2-Clause
// Reads the SVG of `ovnitrace plot` again, without what wrote it.
#pragma once

#include <cstdlib>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace ovnitrace::test {

/// A tag with attributes that have no text, as std::regex needs stack for each character of it.
inline std::string without_values(const std::string &tag) {
  std::string shape;
  bool inside = false;
  for (const char c : tag) {
    inside ^= c == '"';
    if (!inside || c == '"' || c == '<')
      shape += c;
  }
  return shape;
}

/// Whether tags are closed in order and no text or attribute has a bare & or <.
inline bool is_well_formed(const std::string &xml) {
  std::vector<std::string> open;
  static const std::regex entity("^&(amp|lt|gt|quot);");
  for (size_t at = 0; at < xml.size(); at++) {
    if (xml[at] == '&' && !std::regex_search(xml.substr(at, 8), entity))
      return false;
    if (uint8_t(xml[at]) < 0x20 && xml[at] != '\n')
      return false;
    if (xml[at] != '<')
      continue;
    const size_t end = xml.find('>', at);
    if (end == xml.npos)
      return false;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    static const std::regex start(R"re([a-z]+( [a-zA-Z:-]+="")*/?)re");
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1))
        return false;
      open.pop_back();
    } else if (!std::regex_match(without_values(tag), start)) {
      return false;
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
    at = end;
  }
  return open.empty();
}

/// How high each column of a row is in each class of path.
using SvgRow = std::map<std::string, std::vector<int>>;

/// Boxes of a path of M, H and V, that start at and end on `bottom` or 0.
inline void add_path(std::vector<int> &heights, const std::string &path, int row_height) {
  size_t x = 0;
  int y = 0;
  const char *at = path.c_str();
  while (*at) {
    char *end = nullptr;
    const char command = *at++;
    if (command == 'z')
      continue;
    const long value = std::strtol(at, &end, 10);
    at = end;
    if (command == 'M') {
      x = size_t(value);
      y = int(std::strtol(at, &end, 10));
      at = end;
    } else if (command == 'V') {
      y = int(value);
    } else if (command == 'H') {
      for (; x < size_t(value); x++)
        heights.at(x) = row_height - y;
      x = size_t(value);
    } else {
      throw std::runtime_error("a path with " + std::string(1, command));
    }
  }
}

/// By the text of the row's <title>.
inline std::map<std::string, SvgRow> read_rows(const std::string &svg, size_t columns) {
  std::map<std::string, SvgRow> rows;
  static const std::regex group(
      R"re(<g transform="translate[^>]*><title>([^<]*)</title>(.*)</g>)re"),
      shape(R"re(<path class="(\w+)" fill="[^"]*" d="([^"]*)"/>)re");
  for (std::sregex_iterator at(svg.begin(), svg.end(), group), end; at != end; ++at) {
    SvgRow &row = rows[(*at)[1]];
    const std::string body = (*at)[2];
    for (std::sregex_iterator path(body.begin(), body.end(), shape); path != end; ++path) {
      std::vector<int> &heights = row[(*path)[1]];
      heights.resize(columns);
      add_path(heights, (*path)[2], 18);
    }
  }
  return rows;
}

} // namespace ovnitrace::test
