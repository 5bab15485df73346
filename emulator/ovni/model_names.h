// SPDX-License-Identifier: BSD-2-Clause
// Lists the models whose events an ovni stream may have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ovnitrace::ovni {

/// A model of ovni.
struct Model {
  char letter;              ///< first letter of its events
  std::string_view name;    ///< in "ovni.require"
  std::string_view version; ///< the newest one known here
};

/// Returns the model of this name; nullptr if ovni has no such model.
const Model *find_model(std::string_view name);

/// Returns the name of a model; empty if ovni has no model of this letter.
std::string_view model_name(char letter);

/// Returns the start of a sentence about `count` events of a model: "12 events of model V (nosv)
/// are".
std::string events_of_model(char model, uint64_t count);

} // namespace ovnitrace::ovni
