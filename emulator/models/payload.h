// SPDX-License-Identifier: BSD-2-Clause
// Reads numbers from the payload of an ovni event, never beyond its end.
#pragma once

#include "emulator/format/event.h"

#include <cstring>

namespace ovnitrace {

/// Reads the number at byte `at` of the payload into `value`. Returns false if the payload is too
/// short.
template <class T> bool read_payload(const Event &event, uint32_t at, T &value) {
  if (!event.payload || event.payload_size < at + sizeof(T))
    return false;
  std::memcpy(&value, event.payload + at, sizeof(T));
  return true;
}

} // namespace ovnitrace
