// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/identity.h"

#include "emulator/base/error.h"
#include "emulator/base/to_number.h"

#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace ovnitrace {

namespace {

std::optional<uint32_t> number(const char *text) {
  return text ? to_number<uint32_t>(text) : std::nullopt;
}

std::vector<gid_t> groups_of(const char *name, gid_t gid) {
  std::vector<gid_t> groups(64);
  int count = int(groups.size());
  while (getgrouplist(name, gid, groups.data(), &count) < 0) {
    if (count > 65536) // NGROUPS_MAX
      throw Error("user {} is in too many groups", name);
    groups.resize(size_t(count));
  }
  groups.resize(size_t(count));
  return groups;
}

Identity from_database(const passwd &user, std::optional<gid_t> gid) {
  Identity identity;
  identity.uid = user.pw_uid;
  identity.gid = gid.value_or(user.pw_gid);
  identity.groups = groups_of(user.pw_name, identity.gid);
  identity.name = user.pw_name;
  identity.home = user.pw_dir;
  return identity;
}

Identity from_ids(uid_t uid, gid_t gid) {
  if (const passwd *user = getpwuid(uid))
    return from_database(*user, gid);
  Identity identity;
  identity.uid = uid;
  identity.gid = gid;
  identity.groups = {gid};
  return identity;
}

/// Returns an id from a variable of sudo. Throws Error if it is set and is not an id, so that
/// nobody becomes root by mistake. -1 would mean "unchanged" to setresuid().
uint32_t sudo_id(const char *variable) {
  const char *text = std::getenv(variable);
  auto id = number(text);
  if (!id || *id == UINT32_MAX)
    throw Error("{}={} is not a user or group id: let sudo set SUDO_UID and SUDO_GID, unset both, "
                "or name the user of the program with --user NAME",
                variable, text ? text : "");
  return *id;
}

/// Sets the capabilities of the calling thread: `capabilities` are permitted and effective. None
/// are inheritable, and therefore none ambient.
void set_capabilities(uint32_t capabilities) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  data[0].permitted = data[0].effective = capabilities;
  if (syscall(SYS_capset, &header, data) != 0)
    throw Error("cannot drop capabilities: {}", std::strerror(errno));
}

} // namespace

Identity calling_user() {
  Identity identity;
  if (geteuid() == 0 && std::getenv("SUDO_UID"))
    identity = from_ids(sudo_id("SUDO_UID"), sudo_id("SUDO_GID"));
  else
    identity.uid = geteuid(), identity.gid = getegid();
  identity.change = identity.uid != geteuid();
  return identity;
}

Identity user_named(const std::string &name) {
  const passwd *user = getpwnam(name.c_str());
  if (const auto uid = number(name.c_str()); !user && uid)
    user = getpwuid(*uid);
  if (!user)
    throw Error("--user {}: there is no such user on this machine", name);
  Identity identity = from_database(*user, {});
  identity.change = identity.uid != geteuid();
  if (identity.change && geteuid() != 0)
    throw Error("--user {}: only root can run a program as another user; use sudo", name);
  return identity;
}

bool has_capability(int capability) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capget, &header, data) != 0)
    return geteuid() == 0;
  return data[capability / 32].effective & 1u << capability % 32;
}

void become(const Identity &identity, bool may_signal) {
  if (!identity.change || (getuid() == identity.uid && geteuid() == identity.uid))
    return drop_capabilities();
  if (prctl(PR_SET_KEEPCAPS, may_signal) != 0 ||
      setgroups(identity.groups.size(), identity.groups.data()) != 0 ||
      setresgid(identity.gid, identity.gid, identity.gid) != 0 ||
      setresuid(identity.uid, identity.uid, identity.uid) != 0)
    throw Error("cannot become user {}: {}", identity.uid, std::strerror(errno));
  set_capabilities(may_signal ? 1u << CAP_KILL : 0);
}

void drop_capabilities() {
  if (geteuid() != 0)
    set_capabilities(0);
}

void drop_privileges() {
  become(calling_user());
}

EffectiveIdentity::EffectiveIdentity(const Identity &identity)
    : changed_(identity.change), uid_(geteuid()), gid_(getegid()), groups_(NGROUPS_MAX) {
  if (!changed_)
    return;
  int count = getgroups(int(groups_.size()), groups_.data());
  groups_.resize(count > 0 ? size_t(count) : 0);
  if (setgroups(identity.groups.size(), identity.groups.data()) != 0 ||
      setegid(identity.gid) != 0 || seteuid(identity.uid) != 0)
    throw Error("cannot act as user {}: {}", identity.uid, std::strerror(errno));
}

EffectiveIdentity::~EffectiveIdentity() {
  if (changed_ &&
      (seteuid(uid_) != 0 || setegid(gid_) != 0 || setgroups(groups_.size(), groups_.data()) != 0))
    std::abort(); // half changed: nothing safe is left to do
}

void set_environment(const Identity &identity) {
  if (!identity.change || identity.name.empty())
    return;
  setenv("HOME", identity.home.c_str(), 1);
  setenv("USER", identity.name.c_str(), 1);
  setenv("LOGNAME", identity.name.c_str(), 1);
}

} // namespace ovnitrace
