// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/pcf.h"

#include "emulator/prv/atomic_file.h"
#include "emulator/prv/label.h"

#include <algorithm>

namespace ovnitrace {

namespace {

// Of the palette, which Paraver uses for the semantic value of any window without its own: black
// for nothing, then the thread states of ovni (ovni-model.md, "Thread states"), then hues that stay
// apart from their neighbours, then the error states.
const struct {
  uint32_t value;
  PcfColor color;
} kPalette[] = {
    {0, {0, 0, 0}},      // none, Unknown
    {1, {46, 160, 67}},  // Running
    {2, {96, 106, 120}}, // Paused
    {3, {48, 48, 54}},   // Dead
    {4, {218, 54, 51}},  // Cooling: robbed of its CPU
    {5, {240, 180, 0}},  // Warming: woken, waits for a CPU
    {6, {56, 139, 253}},   {7, {188, 91, 222}},   {8, {0, 176, 176}},     {9, {255, 123, 54}},
    {10, {140, 200, 75}},  {11, {255, 130, 180}}, {12, {120, 130, 230}},  {13, {170, 120, 70}},
    {14, {90, 200, 250}},  {15, {200, 200, 80}},  {16, {150, 60, 110}},   {17, {30, 110, 150}},
    {18, {230, 200, 170}}, {19, {110, 150, 110}}, {20, {250, 90, 120}},   {21, {160, 160, 220}},
    {22, {100, 80, 30}},   {23, {60, 220, 150}},  {666, {255, 255, 255}}, // ST_BAD
    {777, {255, 0, 255}},                                                 // ST_TOO_MANY_TH
};

std::string braces(PcfColor color) {
  return "{" + std::to_string(color.red) + "," + std::to_string(color.green) + "," +
         std::to_string(color.blue) + "}";
}

constexpr char kOptions[] = "DEFAULT_OPTIONS\n"
                            "\n"
                            "LEVEL               THREAD\n"
                            "UNITS               NANOSEC\n"
                            "LOOK_BACK           100\n"
                            "SPEED               1\n"
                            "FLAG_ICONS          ENABLED\n"
                            "NUM_OF_STATE_COLORS 1000\n"
                            "YMAX_SCALE          37\n"
                            "\n\n"
                            "DEFAULT_SEMANTIC\n"
                            "\n"
                            "THREAD_FUNC         State As Is\n"
                            "\n\n"
                            "STATES\n"
                            "0    None\n"
                            "\n\n";

std::string type_text(const PcfType &type) {
  std::string number = std::to_string(type.type);
  std::string text =
      "EVENT_TYPE\n0    " + number + "    " + one_line_label(type.label, "Type " + number) + "\n";
  if (!type.values.empty())
    text += "VALUES\n";
  for (const PcfValue &value : type.values) {
    std::string digits = std::to_string(value.value);
    text += digits + "    " + one_line_label(value.label, digits) + "\n";
  }
  return text + "\n\n";
}

} // namespace

PcfColor distinct_color(uint32_t n) {
  // Hues a golden section apart never come near each other soon; three shades tell those that do.
  constexpr uint32_t kSextant = 256, kCircle = 6 * kSextant, kGolden = 949; // circle / 1.618
  constexpr uint32_t kShades[] = {255, 200, 150};
  uint32_t hue = uint32_t(uint64_t(n) * kGolden % kCircle), bright = kShades[n % 3];
  auto channel = [&](uint32_t at) { // full within a sextant of its own hue, then falling
    uint32_t distance = (hue + kCircle - at) % kCircle;
    distance = std::min(distance, kCircle - distance);
    uint32_t level = distance <= kSextant ? 255 : distance >= 2 * kSextant ? 0 : 511 - distance;
    return uint8_t(level * bright / 255);
  };
  return {channel(0), channel(2 * kSextant), channel(4 * kSextant)};
}

std::string pcf_text(const Pcf &pcf) {
  std::string text = kOptions;
  text += "STATES_COLOR\n";
  for (const auto &entry : kPalette)
    text += std::to_string(entry.value) + "    " + braces(entry.color) + "\n";
  text += "\n\n";
  for (const PcfType &type : pcf.types)
    text += type_text(type);
  return text;
}

void write_pcf(const OutputPlace &place, const Pcf &pcf) {
  write_text_file(place, pcf_text(pcf));
}

} // namespace ovnitrace
