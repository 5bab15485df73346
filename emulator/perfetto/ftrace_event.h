// SPDX-License-Identifier: BSD-2-Clause
// An event of the kernel's trace, as a bundle holds it.
#pragma once

#include "emulator/perfetto/fields.h"

#include <protozero/pbf_builder.hpp>

#include <cstdint>
#include <string>

namespace ovnitrace::perfetto {

/// `tid`: who ran where it was logged. `fill` gets a builder for the fields of the event. Perfetto
/// reads it fastest with these two fields first.
template <class Fields, class Fill>
std::string ftrace_event(uint64_t time, uint32_t tid, FtraceEvent kind, Fill fill) {
  std::string event;
  protozero::pbf_builder<FtraceEvent> builder(event);
  builder.add_uint64(FtraceEvent::timestamp, time);
  builder.add_uint32(FtraceEvent::pid, tid);
  protozero::pbf_builder<Fields> fields(builder, kind);
  fill(fields);
  return event;
}

} // namespace ovnitrace::perfetto
