// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/messages.h"

#include "emulator/base/printable.h"

#include <cstdio>
#include <new>
#include <string_view>

namespace ovnitrace {

namespace {

std::string g_program_name = "ovnitrace";
bool g_debug_log = false;

} // namespace

void set_program_name(const std::string &name) {
  g_program_name = name;
}

void set_debug_log(bool on) {
  g_debug_log = on;
}

bool has_debug_log() noexcept {
  return g_debug_log;
}

void print_text(const std::string &text) noexcept {
  try {
    std::string lines;
    for (std::string_view rest = text;;) {
      const size_t end = rest.find('\n');
      lines += printable_line(rest.substr(0, end)) + '\n';
      if (end == rest.npos)
        break;
      rest.remove_prefix(end + 1);
    }
    std::fprintf(stderr, "%s: %s", g_program_name.c_str(), lines.c_str());
  } catch (const std::bad_alloc &) {
    std::fputs("ovnitrace: out of memory\n", stderr);
  }
}

} // namespace ovnitrace
