// SPDX-License-Identifier: BSD-2-Clause
// Gives the name of the system call in which a thread of a trace is blocked.
#pragma once

#include "emulator/format/call_names.h"
#include "emulator/input/source.h"

namespace ovnitrace {

/// Returns call_name() for the machine on which `thread`, an index into Catalog::threads, ran.
inline std::string_view call_name(const Catalog &catalog, uint32_t thread, uint16_t call) {
  return call_name(catalog.hosts[catalog.threads[thread].host].machine, call);
}

} // namespace ovnitrace
