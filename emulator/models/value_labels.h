// SPDX-License-Identifier: BSD-2-Clause
// Makes labels of a channel from the names of values in records.
#pragma once

#include "emulator/core/channel_def.h"
#include "emulator/format/value_names.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// Returns labels for the values of records + `offset`.
inline std::vector<ValueLabel> value_labels(ValueNames names, int64_t offset = 0) {
  std::vector<ValueLabel> labels;
  for (const ValueName &entry : names)
    labels.push_back({int64_t(entry.value) + offset, std::string(entry.label)});
  return labels;
}

} // namespace ovnitrace
