// SPDX-License-Identifier: BSD-2-Clause
// The models whose events an ovni stream may hold.
#pragma once

#include <cstdint>
#include <string>

namespace ovnitrace::ovni {

/// What to tell about `count` events of a model that is not converted, by the letter that begins
/// their names, such as "12 events of model V (nosv) are not converted".
std::string not_converted(char model, uint64_t count);

} // namespace ovnitrace::ovni
