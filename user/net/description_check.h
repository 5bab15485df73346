// SPDX-License-Identifier: BSD-2-Clause
// Whether what a sender says is its trace.json is one.
#pragma once

#include <string>

namespace ovnitrace {

/// Why the file, read from its begin, is no trace.json of ovnitrace, for people; empty if it is
/// one. Memory: 2 MiB, whatever is in it.
std::string why_no_description(int file);

} // namespace ovnitrace
