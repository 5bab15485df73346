// SPDX-License-Identifier: BSD-2-Clause
// Packs the critical path for the page in the browser.
#pragma once

#include "emulator/critical/path.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace ovnitrace {

/// Returns for each segment its length in ns, thread and cause (indices), as varints. Returns
/// nothing if that takes more than `most_bytes`.
std::optional<std::string> pack_path(CriticalPath &path, uint64_t most_bytes);

/// Returns whose path it is, its start (ns from the start of the trace), and the names of its
/// causes.
nlohmann::ordered_json path_header(const CriticalPath &path, const Catalog &catalog);

} // namespace ovnitrace
