// SPDX-License-Identifier: BSD-2-Clause
// Reads clock-offsets.txt: how far the clocks of a trace's hosts are apart, as ovnisync measures
// it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ovnitrace::ovni {

/// ns to add to the times of a host, by host name.
using ClockOffsets = std::map<std::string, int64_t>;

/// Parses the table: a header line, then lines `index host median mean stdev`. The offset is the
/// median, as in ovni. Leaves out wrong lines and adds them to `problems`.
ClockOffsets parse_clock_offsets(const std::string &text, std::vector<std::string> &problems);

/// Returns the offset of a loom, which is that of its host: the loom's name up to the first dot. 0
/// if the table does not have it.
int64_t clock_offset(const ClockOffsets &offsets, const std::string &loom);

} // namespace ovnitrace::ovni
