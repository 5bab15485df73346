// SPDX-License-Identifier: BSD-2-Clause
// Names the processes that ovnitrace forks.
#pragma once

#include <string>

namespace ovnitrace::control {

/// Names the calling process for ps and pkill. Without a name of its own, `pkill ovnitrace` would
/// kill this process, too.
void call_process(const std::string &name);

} // namespace ovnitrace::control
