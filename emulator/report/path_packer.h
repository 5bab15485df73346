// SPDX-License-Identifier: BSD-2-Clause
// The critical path as the page in the browser reads it.
#pragma once

#include "emulator/critical/path.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace ovnitrace {

/// Of each segment its length in ns, the index of its thread and of its cause, as varints. Nothing
/// where that is more than so many bytes.
std::optional<std::string> pack_path(CriticalPath &path, uint64_t most_bytes);

/// Whose path it is, when it starts (ns from the start of the trace), and what its causes are
/// called.
nlohmann::ordered_json path_header(const CriticalPath &path, const Catalog &catalog);

} // namespace ovnitrace
