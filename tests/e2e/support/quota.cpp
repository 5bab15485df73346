// SPDX-License-Identifier: BSD-2-Clause
#include "tests/e2e/support/quota.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace ovnitrace::test {

namespace {

/// Writes into a file of the kernel, if the file exists.
bool write_if_there(const std::string &path, const std::string &text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool written = fd >= 0 && ::write(fd, text.data(), text.size()) == ssize_t(text.size());
  if (fd >= 0)
    close(fd);
  return written;
}

} // namespace

Quota::Quota(unsigned time, unsigned period) {
  static int count = 0;
  const std::string name =
      "/ovnitrace-test-" + std::to_string(getpid()) + "-" + std::to_string(count++);
  const std::string time_text = std::to_string(time), period_text = std::to_string(period);
  for (const char *root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    write_if_there(std::string(root) + "/cgroup.subtree_control", "+cpu");
    if (make(root + name) && write_if_there(path_ + "/cpu.max", time_text + " " + period_text))
      return;
  }
  for (const char *root : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"})
    if (make(root + name) && write_if_there(path_ + "/cpu.cfs_period_us", period_text) &&
        write_if_there(path_ + "/cpu.cfs_quota_us", time_text))
      return;
  remove();
}

Quota::~Quota() {
  remove();
}

const std::string &Quota::make_inner() {
  write_if_there(path_ + "/cgroup.subtree_control", "+cpu");
  inner_ = path_ + "/inner";
  if (mkdir(inner_.c_str(), 0755) != 0)
    inner_.clear();
  return inner_;
}

uint64_t Quota::throttled_ns() const {
  return std::max(stat("throttled_time"), 1000 * stat("throttled_usec"));
}

/// Returns 0 if there is no such number.
uint64_t Quota::stat(const std::string &name) const {
  std::ifstream in(path_ + "/cpu.stat");
  uint64_t value = 0;
  for (std::string key; in >> key >> value;)
    if (key == name)
      return value;
  return 0;
}

bool Quota::make(const std::string &path) {
  remove();
  path_ = mkdir(path.c_str(), 0755) == 0 ? path : "";
  return !path_.empty();
}

void Quota::remove() {
  for (std::string *path : {&inner_, &path_}) {
    if (!path->empty())
      rmdir(path->c_str());
    path->clear();
  }
}

} // namespace ovnitrace::test
