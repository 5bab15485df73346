// SPDX-License-Identifier: BSD-2-Clause
// As whom the traced program runs and our files are written.
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

/// `user` if it is not empty (a name or a number); else the user who called sudo (SUDO_UID,
/// SUDO_GID); else who we are. Throws Error if there is no such user or we may not become it.
Identity choose_identity(const std::string &user);

/// Makes the whole process that identity for ever, if it is not yet. Throws Error.
void become(const Identity &identity);

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
