// SPDX-License-Identifier: BSD-2-Clause
// The text of stream.json.
#pragma once

#include "emulator/ovni_export/stream_store.h"

#include <string>

namespace ovnitrace::ovni {

/// What ovni's emulator (version 1.14) asks of a finished thread, and, under the key "ovnitrace"
/// that it does not read, the name of the thread, its creator and its birth.
std::string format_stream_json(const StreamOwner &owner);

} // namespace ovnitrace::ovni
