// SPDX-License-Identifier: BSD-2-Clause
// Makes the target to which the options send a capture.
#pragma once

#include "user/chunk/trace_target.h"
#include "user/record/record.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ovnitrace {

/// Makes the directory, or connects to the collector. `traced`: the name of the program. Throws
/// Error, also when a signal comes while a collector does not answer.
std::unique_ptr<TraceTarget> make_target(const RecordOptions &options, const std::string &traced,
                                         uint32_t cpus);

/// Makes the target of a flight recorder's save during the capture: a trace of its own beside
/// `whole`, with a number. `saves` is the last number. Throws Error.
std::unique_ptr<TraceTarget> make_save_target(const RecordOptions &options,
                                              const std::string &traced, uint32_t cpus,
                                              const TraceTarget &whole, unsigned &saves);

} // namespace ovnitrace
