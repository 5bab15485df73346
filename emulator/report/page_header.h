// SPDX-License-Identifier: BSD-2-Clause
// Makes the JSON that the page needs beside the columns: threads, CPUs, words and colours.
#pragma once

#include "emulator/report/packed_trace.h"
#include "emulator/summary/report.h"

#include <nlohmann/json_fwd.hpp>

namespace ovnitrace {

/// Returns the JSON. Times are ns from the start of the trace.
nlohmann::ordered_json page_header(const ReportInput &input, const PackedTrace &trace);

} // namespace ovnitrace
