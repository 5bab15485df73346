// SPDX-License-Identifier: BSD-2-Clause
// Programs that a test has started and that outlive who started them.
#pragma once

namespace ovnitrace::test {

/// Marks all that the calling process starts from now on as of this run of the tests.
void mark_as_ours();

/// Kills all that are marked and still run: after a test that failed, its traced programs go on.
void kill_strays();

} // namespace ovnitrace::test
