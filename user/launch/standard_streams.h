// SPDX-License-Identifier: BSD-2-Clause
// Standard streams that were closed when we were started.
#pragma once

namespace ovnitrace {

/// Call first in main(): opens /dev/null in place of those of descriptors 0, 1 and 2 that are
/// closed, so that what we print never lands in a file of ours that got the number. The traced
/// program finds them closed, as they were: ours are closed on exec.
void open_standard_streams();

} // namespace ovnitrace
