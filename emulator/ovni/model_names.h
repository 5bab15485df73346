// SPDX-License-Identifier: BSD-2-Clause
// The models whose events an ovni stream may hold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ovnitrace::ovni {

/// The letter with which the events of a model start; 0 if ovni has no model of this name.
char model_letter(std::string_view name);

/// Its name; empty if ovni has no model of this letter.
std::string_view model_name(char letter);

/// What to report about `count` events of a model that is not converted, by the first letter of
/// their names, such as "12 events of model V (nosv) are not converted".
std::string not_converted(char model, uint64_t count);

} // namespace ovnitrace::ovni
