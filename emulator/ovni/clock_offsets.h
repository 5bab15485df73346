// SPDX-License-Identifier: BSD-2-Clause
// clock-offsets.txt: how far the clocks of the hosts of a trace are apart, as ovnisync measures it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ovnitrace::ovni {

/// ns to add to the times of a host, by host name.
using ClockOffsets = std::map<std::string, int64_t>;

/// Parses the table: a header line, then `index host median mean stdev` a line, of which the median
/// is the offset, as ovni takes it. Lines that are wrong are reported in `problems` and left out.
ClockOffsets parse_clock_offsets(const std::string &text, std::vector<std::string> &problems);

/// The offset of a loom: that of its host, whose name is the loom's up to the first dot. 0 if the
/// table does not have it.
int64_t clock_offset(const ClockOffsets &offsets, const std::string &loom);

} // namespace ovnitrace::ovni
