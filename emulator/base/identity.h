// SPDX-License-Identifier: BSD-2-Clause
// As whom we run: who called us, and how root and capabilities are given up.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace ovnitrace {

struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups; ///< supplementary
  std::string name;          ///< empty if the user database does not know the uid
  std::string home;
  bool change = false; ///< differs from who we are
};

/// The user who called sudo (SUDO_UID, SUDO_GID), if we are root; else who we are. Throws Error if
/// those variables hold no ids.
Identity calling_user();

/// The user of `--user NAME`, a name or a number. Throws Error if there is no such user or we may
/// not become it.
Identity user_named(const std::string &name);

/// Makes the whole process that identity for ever, without any capability, but with CAP_KILL if
/// `may_signal`: for a program that runs as somebody else. Does nothing if it is that already, or
/// is to stay root. Throws Error.
void become(const Identity &identity, bool may_signal = false);

/// Takes every capability from the calling thread, as file capabilities give them; root keeps its
/// own. Throws Error.
void drop_capabilities();

/// What a command does first that needs no privilege: becomes the calling user and drops every
/// capability. For a process with one thread. Throws Error.
void drop_privileges();

/// While it lives, files are made as that identity. For a process with one thread. Throws Error.
class EffectiveIdentity {
public:
  explicit EffectiveIdentity(const Identity &identity);
  ~EffectiveIdentity();
  EffectiveIdentity(const EffectiveIdentity &) = delete;
  EffectiveIdentity &operator=(const EffectiveIdentity &) = delete;

private:
  bool changed_;
  uid_t uid_;
  gid_t gid_;
  std::vector<gid_t> groups_;
};

/// HOME, USER and LOGNAME of that user, as a login would set them. Nothing if nothing changes.
void set_environment(const Identity &identity);

} // namespace ovnitrace
