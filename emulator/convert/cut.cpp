// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/convert/cut.h"

#include <fnmatch.h>

#include <algorithm>

namespace ovnitrace {

namespace {

bool admits(const std::vector<uint32_t> &list, uint32_t number) {
  return list.empty() || std::find(list.begin(), list.end(), number) != list.end();
}

} // namespace

bool Cut::keeps(const ThreadInfo &thread) const {
  auto matches = [&](const std::string &pattern) {
    return fnmatch(pattern.c_str(), thread.name.c_str(), 0) == 0;
  };
  return admits(pids, thread.pid) && admits(tids, thread.tid) &&
         (comms.empty() || std::any_of(comms.begin(), comms.end(), matches));
}

bool Cut::keeps_cpu(uint32_t index) const {
  return admits(cpus, index);
}

} // namespace ovnitrace
