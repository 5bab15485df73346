// SPDX-License-Identifier: BSD-2-Clause
// Converts a trace directory in one call, for tests and benchmarks.
#pragma once

#include "emulator/convert/convert.h"
#include "emulator/open/open_trace.h"

#include <memory>
#include <string>

namespace ovnitrace {

/// Converts the trace directory at `path`, into itself if options.directory is empty.
inline ConvertResult convert_directory(const std::string &path, ConvertOptions options,
                                       DiagnosticSink &sink) {
  if (options.directory.empty())
    options.directory = path;
  const std::unique_ptr<EventSource> source = open_trace({{path, 0}}, sink);
  return convert(*source, options, sink);
}

} // namespace ovnitrace
