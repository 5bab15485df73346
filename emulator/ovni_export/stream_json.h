// SPDX-License-Identifier: BSD-2-Clause
// Makes the text of stream.json.
#pragma once

#include "emulator/ovni_export/stream_store.h"

#include <string>

namespace ovnitrace::ovni {

/// Returns what ovni's emulator (version 1.14) requires of a finished thread. Adds the thread's
/// name, creator and birth under the key "ovnitrace", which ovni ignores.
std::string format_stream_json(const StreamOwner &owner);

} // namespace ovnitrace::ovni
