// SPDX-License-Identifier: BSD-2-Clause
// Opens an ovni trace directory as an EventSource.
#pragma once

#include "emulator/input/source.h"

#include <memory>
#include <string>

namespace ovnitrace::ovni {

/// Opens the ovni trace at `path`. Throws what open_stream_dir() throws. `sink` must outlive the
/// source.
///
/// Events have kind mcv() and their payload as in the stream, with two exceptions:
/// - the CPU in the payload of OHx, OHC, OAs and OAr is the phyid, which is CpuInfo::index; -1 is
/// the
///   virtual CPU, kBadCpu a CPU that the loom does not have;
/// - a jumbo payload is cut after StreamFile::kJumboKept bytes.
/// `peer` is the thread that OAr names. Events of every model are passed on. A time that goes back
/// within a stream is reported and becomes the time before it.
std::unique_ptr<EventSource>
open_ovni_trace(const std::string &path, const std::string &clock_offsets, DiagnosticSink &sink);

/// Replaces the CPU in the payload of an event if the loom has no such CPU.
inline constexpr int32_t kBadCpu = INT32_MIN;

} // namespace ovnitrace::ovni
