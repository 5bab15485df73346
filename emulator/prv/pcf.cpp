// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/pcf.h"

#include "emulator/format/state_table.h"
#include "emulator/prv/label.h"

namespace ovnitrace {

namespace {

/// What Paraver paints the values of any window with that has no colours of its own: those of the
/// thread states, as PRV type 4 numbers them, then others.
constexpr uint32_t kColors = 24;

Color color_of(uint32_t value) {
  return value < OVNI_THREAD_STATES ? kStateTable[value].color
                                    : palette::series(value - OVNI_THREAD_STATES);
}

std::string braces(Color color) {
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

void put_line(std::string &text, std::string_view number, std::string_view label) {
  text.append(number).append("    ").append(label).append("\n");
}

void put_type(std::string &text, const PcfType &type) {
  const std::string number = std::to_string(type.type);
  text += "EVENT_TYPE\n";
  put_line(text, "0    " + number, one_line_label(type.label, "Type " + number));
  if (!type.values.empty())
    text += "VALUES\n";
  for (const PcfValue &value : type.values) {
    const std::string digits = std::to_string(value.value);
    put_line(text, digits, one_line_label(value.label, digits));
  }
  text += "\n\n";
}

} // namespace

std::string pcf_text(const Pcf &pcf) {
  std::string text = kOptions;
  text += "STATES_COLOR\n";
  auto put = [&text](uint32_t value, Color color) {
    put_line(text, std::to_string(value), braces(color));
  };
  for (uint32_t value = 0; value < kColors; value++)
    put(value, color_of(value));
  put(666, palette::kBad);   // ST_BAD
  put(777, palette::kAlarm); // ST_TOO_MANY_TH
  text += "\n\n";
  for (const PcfType &type : pcf.types)
    put_type(text, type);
  return text;
}

} // namespace ovnitrace
