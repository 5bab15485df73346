// SPDX-License-Identifier: BSD-2-Clause
// Shows a file in the browser of the user.
#pragma once

#include <string>

namespace ovnitrace {

/// Starts the browser that the desktop has chosen (xdg-open), and does not wait for it. To be
/// called as the user whose browser it is, after drop_privileges(); as root nothing is started.
/// That it did not start is printed, and is no failure.
void open_browser(const std::string &path);

} // namespace ovnitrace
