// SPDX-License-Identifier: BSD-2-Clause
// Shows the critical path as tables and as JSON.
#pragma once

#include "emulator/critical/path.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace ovnitrace {

/// Returns text: whose path it is, the time of each thread and cause in it, and who held the CPU
/// during its waits. Each table has at most `top` lines, and one for the rest; 0: all lines.
/// `by_name`: threads of one name share a line, such as "cc1 (20 threads)". Lines have at most
/// `columns`, if the numbers fit.
std::string path_text(CriticalPath &path, const Catalog &catalog, size_t top, bool by_name = false,
                      size_t columns = SIZE_MAX);

/// Adds `critical_path`, whose `ns` sum up to the length of the path, and `critical_path_of`. Names
/// are bytes that programs chose.
void add_path_json(nlohmann::ordered_json &json, CriticalPath &path, const Catalog &catalog);

} // namespace ovnitrace
