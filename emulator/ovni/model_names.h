// SPDX-License-Identifier: BSD-2-Clause
// The models whose events an ovni stream may hold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ovnitrace::ovni {

/// A model of ovni.
struct Model {
  char letter;              ///< with which its events start
  std::string_view name;    ///< in "ovni.require"
  std::string_view version; ///< the newest that is known here
};

/// Finds the model of this name; null if ovni has none.
const Model *find_model(std::string_view name);

/// Its name; empty if ovni has no model of this letter.
std::string_view model_name(char letter);

/// Names `count` events of a model by the letter with which they start: "12 events of model V
/// (nosv) are", so that a caller says what they are not.
std::string events_of_model(char model, uint64_t count);

} // namespace ovnitrace::ovni
