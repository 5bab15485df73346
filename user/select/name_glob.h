// SPDX-License-Identifier: BSD-2-Clause
// Makes patterns of names that the kernel side can match.
#pragma once

#include <ovnitrace/selection.h>

#include <string>

namespace ovnitrace {

/// Returns a pattern in which * is any text and ? any character. Throws Error (kExitUsage) about
/// `option` if no name of a thread can match it.
name_glob make_name_glob(const std::string &option, const std::string &pattern);

} // namespace ovnitrace
