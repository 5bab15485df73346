// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/messages.h"

#include <cstdio>

namespace ovnitrace {

namespace {

std::string g_program_name = "ovnitrace";

} // namespace

void set_program_name(const std::string &name) {
  g_program_name = name;
}

void print_text(const std::string &text) noexcept {
  std::fprintf(stderr, "%s: %s\n", g_program_name.c_str(), text.c_str());
}

} // namespace ovnitrace
