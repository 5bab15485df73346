// SPDX-License-Identifier: BSD-2-Clause
// Denies system calls to this process and its children for good, with seccomp filters.
#pragma once

namespace ovnitrace {

/// Installs a filter, as sudo and systemd do: from now on this process and its children cannot put
/// characters into a terminal's input (TIOCSTI, and TIOCLINUX, which pastes). The shell of root who
/// started ovnitrace would execute them. Call it while we are root, because only root may install
/// the filter and leave set-user-ID programs as they are. Throws Error.
void protect_terminal();

/// Denies the calls that ovnitrace needs at most until everything is attached, such as execve(2),
/// in all threads of this process and its children. They fail with EPERM. With `keeps_attaching`,
/// probes can still be attached. If that fails, as in a kernel without seccomp, it is only logged.
void deny_unneeded_calls(bool keeps_attaching);

} // namespace ovnitrace
