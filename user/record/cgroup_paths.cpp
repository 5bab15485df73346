// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/cgroup_paths.h"

#include "emulator/base/printable.h"
#include "emulator/format/cgroup_names.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace ovnitrace {

uint32_t CgroupPaths::number(uint64_t key) {
  if (!key)
    return 0;
  const std::lock_guard lock(mutex_);
  if (const auto found = numbers_.find(key); found != numbers_.end())
    return found->second;
  if (paths_.size() == kMost)
    return 0;
  paths_.emplace_back(key == CAPTURE_KERNEL_CGROUP ? kKernelGroup : "");
  return numbers_[key] = uint32_t(paths_.size());
}

void CgroupPaths::take(const void *message, size_t bytes) {
  if (bytes < sizeof(cgroup_record))
    return;
  const auto *record = static_cast<const cgroup_record *>(message);
  const uint32_t which = number(record->key);
  if (!which)
    return;
  std::string path = record->cut ? "…" : "";
  std::string_view parts(record->text, std::min<size_t>(record->bytes, sizeof record->text));
  while (parts.ends_with('\0'))
    parts.remove_suffix(1);
  while (!parts.empty()) {
    const size_t before = parts.rfind('\0');
    const size_t start = before == parts.npos ? 0 : before + 1;
    path += "/" + printable_line(parts.substr(start));
    parts = parts.substr(0, start ? before : 0);
  }
  const std::lock_guard lock(mutex_);
  paths_[which - 1] = path.empty() ? "/" : path;
}

std::vector<std::string> CgroupPaths::paths() const {
  const std::lock_guard lock(mutex_);
  return paths_;
}

} // namespace ovnitrace
