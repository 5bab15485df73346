// SPDX-License-Identifier: BSD-2-Clause
// Shows a file in the user's browser.
#pragma once

#include <string>

namespace ovnitrace {

/// Starts the browser of the desktop (xdg-open) and does not wait for it. To be called as the user,
/// after drop_privileges(); as root, it starts nothing. A browser that does not start is reported,
/// and is not an error.
void open_browser(const std::string &path);

} // namespace ovnitrace
