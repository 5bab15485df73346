// SPDX-License-Identifier: BSD-2-Clause
// What the page must know beside the columns: threads, CPUs, words and colours.
#pragma once

#include "emulator/report/packed_trace.h"
#include "emulator/summary/report.h"

#include <nlohmann/json_fwd.hpp>

namespace ovnitrace {

/// Times in it are ns from the start of the trace.
nlohmann::ordered_json page_header(const ReportInput &input, const PackedTrace &trace);

} // namespace ovnitrace
