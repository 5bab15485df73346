// SPDX-License-Identifier: BSD-2-Clause
// Changes the user that the process runs as, and gives up capabilities.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace ovnitrace {

struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups; ///< supplementary
  std::string name;          ///< empty if the user database lacks the uid
  std::string home;
  bool change = false; ///< differs from the current user
};

/// Returns the user who called sudo (SUDO_UID, SUDO_GID) if we are root, else the current user.
/// Throws Error if those variables hold no ids.
Identity calling_user();

/// Returns the user of `--user NAME`, a name or a number. Throws Error if there is no such user, or
/// if we may not become that user.
Identity user_named(const std::string &name);

/// Returns whether the calling thread may use a capability (CAP_…) now.
bool has_capability(int capability);

/// Changes the user of the whole process for good, and drops its capabilities. With `may_signal`,
/// it keeps CAP_KILL, to signal a program that runs as another user. Does nothing if there is
/// nothing to change. Throws Error.
void become(const Identity &identity, bool may_signal = false);

/// Drops all capabilities of the calling thread, which it has from file capabilities; root keeps
/// its own. Throws Error.
void drop_capabilities();

/// Becomes the calling user and drops every capability. To be called first by commands that need no
/// privilege, in a process with one thread. Throws Error.
void drop_privileges();

/// Acts as another user for files that the process makes, as long as the object exists. The process
/// must have only one thread. Throws Error.
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

/// Sets HOME, USER and LOGNAME to those of that user, as a login would. Does nothing if the user
/// stays the same.
void set_environment(const Identity &identity);

} // namespace ovnitrace
