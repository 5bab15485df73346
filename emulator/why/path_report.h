// SPDX-License-Identifier: BSD-2-Clause
// The critical path as a table.
#pragma once

#include "emulator/critical/path.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace ovnitrace {

/// For people: whose path it is, what each thread and cause takes of it, and who held the CPU while
/// one of them waited. Of each table `top` lines at most and the rest as one more; 0: all.
/// `by_name`: threads of one name are one line, as "cc1 (20 threads)".
std::string path_text(CriticalPath &path, const Catalog &catalog, size_t top, bool by_name = false);

/// Adds `critical_path`, whose `ns` sum up to the length of the path, and `critical_path_of`. Names
/// are bytes that programs chose.
void add_path_json(nlohmann::ordered_json &json, CriticalPath &path, const Catalog &catalog);

} // namespace ovnitrace
