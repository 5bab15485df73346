// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/ovni/model_names.h"

#include "emulator/ovni/stream_format.h"

#include <array>
#include <string_view>

namespace ovnitrace::ovni {

namespace {

/// The models of ovni 1.14.
constexpr std::array<Model, 8> kModels{{{'6', "nanos6", "1.1.0"},
                                        {'D', "nodes", "1.0.0"},
                                        {'K', "kernel", "1.0.0"},
                                        {'M', "mpi", "1.0.0"},
                                        {'O', "ovni", kModelVersion},
                                        {'P', "openmp", "1.2.1"},
                                        {'T', "tampi", "1.0.0"},
                                        {'V', "nosv", "2.7.0"}}};

} // namespace

const Model *find_model(std::string_view name) {
  for (const Model &known : kModels)
    if (known.name == name)
      return &known;
  return nullptr;
}

std::string_view model_name(char letter) {
  for (const Model &known : kModels)
    if (known.letter == letter)
      return known.name;
  return {};
}

std::string events_of_model(char model, uint64_t count) {
  std::string text = std::to_string(count) + (count == 1 ? " event" : " events") + " of model ";
  text += model;
  if (const std::string_view name = model_name(model); !name.empty())
    text += " (" + std::string(name) + ")";
  return text + (count == 1 ? " is" : " are");
}

} // namespace ovnitrace::ovni
