// SPDX-License-Identifier: BSD-2-Clause
// Lists the processes of the machine.
#pragma once

#include <cstdint>
#include <system_error>
#include <vector>

namespace ovnitrace {

/// Returns the pids that /proc has now, as far as it can be read. `error`: why not further.
std::vector<uint32_t> living_processes(std::error_code &error);

} // namespace ovnitrace
