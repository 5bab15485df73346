// SPDX-License-Identifier: BSD-2-Clause
// Models that users write: a JSON file that maps user events to channels (docs/models.md).
#pragma once

#include "emulator/core/model.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// Reads the model in a file. Its PRV types must not be those of `others`. Throws Error that names
/// the file, the place in it and what is wrong there.
Model load_json_model(const std::string &path, const std::vector<Model> &others);

/// The same for a text; `path` is for messages.
Model parse_json_model(const std::string &text, const std::string &path,
                       const std::vector<Model> &others);

} // namespace ovnitrace
