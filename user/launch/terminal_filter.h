// SPDX-License-Identifier: BSD-2-Clause
// Keeps a program of another user from typing into the terminal that it shares with us.
#pragma once

namespace ovnitrace {

/// Installs a seccomp filter, as sudo and systemd do: from now on this process and its children
/// cannot put characters into a terminal's input (TIOCSTI, and TIOCLINUX, which pastes). The shell
/// of root who started ovnitrace would execute them. Call it while we are root, because only root
/// may install the filter and leave set-user-ID programs as they are. Throws Error.
void protect_terminal();

} // namespace ovnitrace
