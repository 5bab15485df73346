// SPDX-License-Identifier: BSD-2-Clause
// What a program of another user must not do to the terminal that it shares with us.
#pragma once

namespace ovnitrace {

/// From now on this process and its children cannot put characters into a terminal's input
/// (TIOCSTI, and TIOCLINUX, which pastes): the shell of root who started ovnitrace would run them.
/// A seccomp filter, as those of sudo and systemd. To be called while we are root, because only
/// root may install it and leave set-user-ID programs as they are. Throws Error.
void protect_terminal();

} // namespace ovnitrace
