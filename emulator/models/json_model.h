// SPDX-License-Identifier: BSD-2-Clause
// Reads models that users write: a JSON file that maps user events to channels (docs/models.md).
#pragma once

#include "emulator/core/model.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// Reads the model in a file. Throws Error with the file, the place in it and what is wrong there,
/// also for a PRV type of one of `others`.
Model load_json_model(const std::string &path, const std::vector<Model> &others);

/// Does the same for a text; `path` is for messages.
Model parse_json_model(const std::string &text, const std::string &path,
                       const std::vector<Model> &others);

} // namespace ovnitrace
