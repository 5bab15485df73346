// SPDX-License-Identifier: BSD-2-Clause
// Opens standard streams that were closed when we were started.
#pragma once

namespace ovnitrace {

/// Opens /dev/null in place of the descriptors 0, 1 and 2 that are closed; call it first in main().
/// Otherwise what we print could land in a file of ours that got the number. The traced program
/// finds the descriptors closed, as they were: ours are closed on exec.
void open_standard_streams();

} // namespace ovnitrace
