// SPDX-License-Identifier: BSD-2-Clause
// What a process that ovnitrace forks is called.
#pragma once

#include <string>

namespace ovnitrace::control {

/// Names the calling process for ps, and for those who kill by name or by command line: without it
/// they would mean this process when they mean ovnitrace.
void call_process(const std::string &name);

} // namespace ovnitrace::control
