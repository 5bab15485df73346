// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/record.h"

#include "user/launch/file_limit.h"
#include "user/launch/signals.h"
#include "user/record/session.h"

#include <unistd.h>

#include <cstddef>

namespace ovnitrace {

RecordResult record(const RecordOptions &options) {
  hold_signals();
  constexpr size_t kFilesOfACpu = 2,
                   kOthers = 64; // ring, chunk file; programs, links, maps, standard streams
  raise_file_limit(size_t(sysconf(_SC_NPROCESSORS_CONF)) * kFilesOfACpu + kOthers);
  return Session(options).run();
}

} // namespace ovnitrace
