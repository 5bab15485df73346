// SPDX-License-Identifier: BSD-2-Clause
// Prints, one key=value a line, what a program inherits and a launcher may spoil, so that a test
// can compare it traced and untraced.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace {

void show_ids() {
  uid_t ruid, euid, suid;
  gid_t rgid, egid, sgid;
  getresuid(&ruid, &euid, &suid);
  getresgid(&rgid, &egid, &sgid);
  printf("uid=%u,%u,%u\ngid=%u,%u,%u\n", ruid, euid, suid, rgid, egid, sgid);
  std::vector<gid_t> groups(size_t(std::max(0, getgroups(0, nullptr))));
  groups.resize(size_t(std::max(0, getgroups(int(groups.size()), groups.data()))));
  std::sort(groups.begin(), groups.end());
  printf("groups=");
  for (size_t i = 0; i < groups.size(); i++)
    printf(i ? ",%u" : "%u", groups[i]);
  printf("\n");
}

/// Lines of /proc/self/status that are inherited: ignored and blocked signals, capabilities,
/// filters.
void show_status() {
  FILE *file = fopen("/proc/self/status", "re");
  if (!file) {
    perror("show_env: /proc/self/status");
    exit(1);
  }
  char line[512];
  while (fgets(line, sizeof line, file))
    for (const char *key : {"SigBlk", "SigIgn", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb",
                            "NoNewPrivs", "Seccomp", "Cpus_allowed_list"})
      if (const size_t size = strlen(key); strncmp(line, key, size) == 0 && line[size] == ':')
        printf("%s=%s", key, line + size + 1 + strspn(line + size + 1, " \t"));
  fclose(file);
}

/// Open file descriptors by number and what they are, without what differs from run to run.
void show_fds() {
  DIR *dir = opendir("/proc/self/fd");
  if (!dir) {
    perror("show_env: /proc/self/fd");
    exit(1);
  }
  std::vector<int> fds;
  while (const dirent *entry = readdir(dir))
    if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(dir))
      fds.push_back(atoi(entry->d_name));
  closedir(dir);
  std::sort(fds.begin(), fds.end());
  for (const int fd : fds) {
    char target[4096];
    const auto link = "/proc/self/fd/" + std::to_string(fd);
    const ssize_t size = readlink(link.c_str(), target, sizeof target);
    printf("fd %d=%.*s%s\n", fd, int(std::max<ssize_t>(0, size)), target,
           isatty(fd) ? " (terminal)" : "");
  }
}

void show_limits() {
  for (int which = 0; which < int(RLIM_NLIMITS); which++) {
    rlimit limit;
    if (getrlimit(__rlimit_resource_t(which), &limit) == 0)
      printf("rlimit %d=%lld,%lld\n", which, (long long)limit.rlim_cur, (long long)limit.rlim_max);
  }
}

} // namespace

int main() {
  show_ids();
  char cwd[4096];
  printf("cwd=%s\n", getcwd(cwd, sizeof cwd) ? cwd : "?");
  const mode_t mask = umask(0);
  printf("umask=%03o\n", mask);

  const char *tty = ttyname(STDIN_FILENO);
  printf("tty=%s\n", tty ? tty : "none");
  printf("foreground=%d\n", tcgetpgrp(STDIN_FILENO) == getpgrp());
  printf("group_leader=%d\n", getpgrp() == getpid());

  sched_param parameter{};
  sched_getparam(0, &parameter);
  printf("policy=%d\npriority=%d\nnice=%d\n", sched_getscheduler(0), parameter.sched_priority,
         getpriority(PRIO_PROCESS, 0));
  int death_signal = 0;
  prctl(PR_GET_PDEATHSIG, &death_signal);
  printf("pdeathsig=%d\ndumpable=%d\n", death_signal, prctl(PR_GET_DUMPABLE));
  show_status();
  show_fds();
  show_limits();

  std::vector<std::string> environment;
  for (char **variable = environ; *variable; variable++)
    environment.emplace_back(*variable);
  std::sort(environment.begin(), environment.end());
  for (const auto &variable : environment)
    printf("env %s\n", variable.c_str());
}
