// SPDX-License-Identifier: BSD-2-Clause
// Where the options send a capture to.
#pragma once

#include "user/chunk/trace_target.h"
#include "user/record/record.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ovnitrace {

/// The directory, made, or the collector, connected to. `traced`: the name of the program. Throws
/// Error, also when a signal comes while a collector does not answer.
std::unique_ptr<TraceTarget> make_target(const RecordOptions &options, const std::string &traced,
                                         uint32_t cpus);

/// For what a flight recorder holds in between: a trace of its own beside `whole`, numbered;
/// `saves` is the last number. Throws Error.
std::unique_ptr<TraceTarget> make_save_target(const RecordOptions &options,
                                              const std::string &traced, uint32_t cpus,
                                              const TraceTarget &whole, unsigned &saves);

} // namespace ovnitrace
