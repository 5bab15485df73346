// SPDX-License-Identifier: BSD-2-Clause
// An ovni trace directory as an EventSource.
#pragma once

#include "emulator/input/source.h"

#include <memory>
#include <string>

namespace ovnitrace::ovni {

/// Opens the ovni trace at `path` (open_stream_dir(), which also says what is thrown).
///
/// Events have kind mcv() and their payload as in the stream, with two exceptions: the CPU in the
/// payload of OHx, OHC, OAs and OAr is the phyid, which is CpuInfo::index (-1 the virtual CPU;
/// kBadCpu one that the loom does not have), and a jumbo payload is cut after
/// StreamFile::kJumboKept bytes. `peer` is the thread that OAr names. Events of every model are
/// passed. Times that go back within a stream are reported and become the time before them.
///
/// `sink` must outlive the source.
std::unique_ptr<EventSource>
open_ovni_trace(const std::string &path, const std::string &clock_offsets, DiagnosticSink &sink);

/// Payload CPU of an event that names a CPU which its loom does not have.
inline constexpr int32_t kBadCpu = INT32_MIN;

} // namespace ovnitrace::ovni
