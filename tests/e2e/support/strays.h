// SPDX-License-Identifier: BSD-2-Clause
// Finds and kills programs that outlive the test that started them.
#pragma once

#include <sys/types.h>
#include <vector>

namespace ovnitrace::test {

/// Marks every process that the caller starts from now on: it belongs to this run of the tests.
void mark_as_ours();

/// Returns the marked processes that still run.
std::vector<pid_t> strays();

/// Kills the marked processes that still run: the traced programs of a test that failed go on.
void kill_strays();

} // namespace ovnitrace::test
