// SPDX-License-Identifier: BSD-2-Clause
// The HTML page that shows a packed trace.
#pragma once

#include "emulator/output/atomic_file.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ovnitrace {

/// A part of the data of a page, with its name.
using PagePart = std::pair<std::string, std::string>;

/// All parts, raw deflate. Inside stand the size of a JSON object (4 bytes, the lowest first), the
/// object, which is `header` with the names and sizes of the parts in `parts`, and the parts.
/// Throws Error.
std::string deflate_parts(nlohmann::ordered_json header, const std::vector<PagePart> &parts);

/// How many bytes the page of so many deflated ones has.
uint64_t page_bytes(uint64_t deflated);

/// Nothing in it but base64 comes from the trace, so that no name there can be taken for HTML or
/// JavaScript. Throws Error.
void write_page(AtomicFile &file, std::string_view deflated);

} // namespace ovnitrace
