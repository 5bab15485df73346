// SPDX-License-Identifier: BSD-2-Clause
// The names of values in records, as labels of a channel.
#pragma once

#include "emulator/core/channel_def.h"
#include "emulator/format/value_names.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// The labels of values that are those of the records + `offset`.
inline std::vector<ValueLabel> value_labels(ValueNames names, int64_t offset = 0) {
  std::vector<ValueLabel> labels;
  for (const ValueName &entry : names)
    labels.push_back({int64_t(entry.value) + offset, std::string(entry.label)});
  return labels;
}

} // namespace ovnitrace
