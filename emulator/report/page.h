// SPDX-License-Identifier: BSD-2-Clause
// Makes the HTML page that shows a packed trace.
#pragma once

#include "emulator/output/atomic_file.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ovnitrace {

/// A named part of the data of a page.
using PagePart = std::pair<std::string, std::string>;

/// Returns all parts, raw deflate. The deflated data are the size of a JSON object (4 bytes, little
/// endian), the object, and the parts. The object is `header` with the names and sizes of the parts
/// in `parts`. Throws Error.
std::string deflate_parts(nlohmann::ordered_json header, const std::vector<PagePart> &parts);

/// Returns the bytes of a page with so many bytes of deflated data.
uint64_t page_bytes(uint64_t deflated);

/// Writes a page. Data of the trace are only in base64, so no name there can be taken for HTML or
/// JavaScript. Throws Error.
void write_page(AtomicFile &file, std::string_view deflated);

} // namespace ovnitrace
