// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/ovni/model_names.h"

#include <array>
#include <string_view>

namespace ovnitrace::ovni {

namespace {

struct Model {
  char letter;
  std::string_view name;
};

/// The letters that ovni's event list (version 1.14) assigns.
constexpr std::array<Model, 8> kModels{{{'6', "nanos6"},
                                        {'D', "nodes"},
                                        {'K', "kernel"},
                                        {'M', "mpi"},
                                        {'O', "ovni"},
                                        {'P', "openmp"},
                                        {'T', "tampi"},
                                        {'V', "nosv"}}};

} // namespace

std::string not_converted(char model, uint64_t count) {
  std::string text = std::to_string(count) + (count == 1 ? " event" : " events") + " of model ";
  text += model;
  for (const Model &known : kModels)
    if (known.letter == model)
      text += " (" + std::string(known.name) + ")";
  return text + (count == 1 ? " is not converted" : " are not converted");
}

} // namespace ovnitrace::ovni
