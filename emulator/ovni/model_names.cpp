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

char model_letter(std::string_view name) {
  for (const Model &known : kModels)
    if (known.name == name)
      return known.letter;
  return 0;
}

std::string_view model_name(char letter) {
  for (const Model &known : kModels)
    if (known.letter == letter)
      return known.name;
  return {};
}

std::string not_converted(char model, uint64_t count) {
  std::string text = std::to_string(count) + (count == 1 ? " event" : " events") + " of model ";
  text += model;
  if (const std::string_view name = model_name(model); !name.empty())
    text += " (" + std::string(name) + ")";
  return text + (count == 1 ? " is not converted" : " are not converted");
}

} // namespace ovnitrace::ovni
