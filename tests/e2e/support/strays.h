// SPDX-License-Identifier: BSD-2-Clause
// Programs that a test has started and that outlive who started them.
#pragma once

#include <sys/types.h>
#include <vector>

namespace ovnitrace::test {

/// Marks all that the calling process starts from now on as of this run of the tests.
void mark_as_ours();

/// All that are marked and still run.
std::vector<pid_t> strays();

/// Kills all that are marked and still run: after a test that failed, its traced programs go on.
void kill_strays();

} // namespace ovnitrace::test
