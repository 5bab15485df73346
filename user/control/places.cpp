// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/places.h"

#include "emulator/base/printable.h"
#include "user/control/scan.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace ovnitrace::control {

namespace {

constexpr std::string_view kEndbr = "\xf3\x0f\x1e\xfa";

class Finder {
public:
  Finder(const Plan &plan, const Image &image, std::optional<uint64_t> bias)
      : plan_(plan), image_(image), bias_(bias) {
    places_.found.resize(plan.alarm_table.size());
  }
  Places find();

private:
  void find_alarm(uint32_t alarm);
  void find_functions_of(uint32_t alarm, std::string_view name, Naming naming);
  void find_address(uint32_t alarm);
  void add(uint32_t alarm, uint64_t address, ProbeKind kind, bool function);
  void put(ProbeKind kind, uint64_t offset, uint64_t alarms);

  const Plan &plan_;
  const Image &image_;
  const std::optional<uint64_t> bias_;
  std::map<ProbeKind, std::map<uint64_t, uint64_t>> by_offset_; ///< alarms, a bit each
  Places places_;
};

void Finder::put(ProbeKind kind, uint64_t offset, uint64_t alarms) {
  by_offset_[kind][offset] |= alarms;
}

/// Of a function the push after an endbr64 is as good, and costs a thirtieth.
void Finder::add(uint32_t alarm, uint64_t address, ProbeKind kind, bool function) {
  const auto code = image_.bytes_at(address, 16);
  if (function && code.starts_with(kEndbr) && code.size() > 5 &&
      (code[4] == '\x55' || code[4] == '\x53'))
    address += kEndbr.size();
  const std::optional<uint64_t> offset = image_.offset_of(address);
  const std::string why =
      offset ? why_no_probe(image_.bytes_at(address, 16)) : "it is no code of the file";
  if (!why.empty()) {
    places_.notes.push_back(
        fmt::format("{:#x} in {} cannot be probed: {}", address, printable_line(image_.path), why));
    return;
  }
  const uint64_t bit = 1ull << alarm;
  places_.found[alarm]++;
  put(kind, *offset, bit);
  if (kind == ProbeKind::alarm_return)
    put(ProbeKind::alarm, *offset, bit); // to know which call is the outermost
}

void Finder::find_functions_of(uint32_t alarm, std::string_view name, Naming naming) {
  const std::vector<uint64_t> addresses = find_functions(image_, name, naming);
  const control_type type = control_type(plan_.alarm_table[alarm].type);
  const ProbeKind kind = type == CONTROL_EXIT_FUNC  ? ProbeKind::alarm_return
                         : type == CONTROL_PCONTROL ? ProbeKind::pcontrol
                                                    : ProbeKind::alarm;
  for (uint64_t address : addresses)
    add(alarm, address, kind, true);
  if (addresses.size() > 1 && type != CONTROL_PCONTROL)
    places_.notes.push_back(
        fmt::format("{} functions called {} in {}: the alarm is for all of them", addresses.size(),
                    printable_line(name), printable_line(image_.path)));
}

/// 0xADDRESS, IMAGE+OFFSET or a function, as parse_chain() has accepted it.
void Finder::find_address(uint32_t alarm) {
  const Alarm &written = *plan_.alarms[alarm];
  const std::string &text = written.value;
  const size_t plus = text.rfind('+');
  if (text.starts_with("0x") || text.starts_with("0X")) {
    if (!image_.fixed && !bias_)
      return;
    const uint64_t address = written.number - bias_.value_or(0);
    if (image_.offset_of(address))
      add(alarm, address, ProbeKind::alarm, false);
  } else if (plus != text.npos && plus > 0 && text.find("operator") == text.npos) {
    const std::string_view name(text.data(), plus);
    const std::string_view path = image_.path;
    if (name == path || name == path.substr(path.rfind('/') + 1))
      add(alarm, image_.base + written.number, ProbeKind::alarm, false);
  } else {
    find_functions_of(alarm, text, Naming::any);
  }
}

void Finder::find_alarm(uint32_t alarm) {
  switch (plan_.alarm_table[alarm].type) {
  case CONTROL_ADDRESS:
    return find_address(alarm);
  case CONTROL_ENTER_FUNC:
  case CONTROL_EXIT_FUNC:
    return find_functions_of(alarm, plan_.alarms[alarm]->value, Naming::bare);
  case CONTROL_PCONTROL:
    return find_functions_of(alarm, "MPI_Pcontrol", Naming::bare);
  }
}

Places Finder::find() {
  for (uint32_t a = 0; a < plan_.alarm_table.size(); a++)
    find_alarm(a);
  size_t refused = 0;
  std::string why;
  for (const Marker &marker : scan(plan_, image_)) {
    const std::string reason = why_no_probe(image_.bytes_at(marker.address, 16));
    const std::optional<uint64_t> offset = image_.offset_of(marker.address);
    if (!reason.empty() || !offset) {
      refused++;
      why = reason;
      continue;
    }
    put(ProbeKind::alarm, *offset, marker.alarms);
    for (uint32_t a = 0; a < places_.found.size(); a++)
      places_.found[a] += marker.alarms >> a & 1;
  }
  if (refused)
    places_.notes.push_back(fmt::format("{} instructions in {} cannot be probed: {}", refused,
                                        printable_line(image_.path), why));
  for (uint64_t address : find_functions(image_, "_dl_debug_state", Naming::bare))
    if (const auto offset = image_.offset_of(address))
      put(ProbeKind::library, *offset, 0);
  for (const auto &[kind, offsets] : by_offset_)
    for (const auto &[offset, alarms] : offsets)
      places_.probes[kind].push_back({offset, alarms});
  return std::move(places_);
}

} // namespace

Places find_places(const Plan &plan, const Image &image, std::optional<uint64_t> bias) {
  return Finder(plan, image, bias).find();
}

void check_groups(const Plan &plan) {
  for (size_t a = 0; a < plan.alarm_table.size(); a++) {
    const control_type type = control_type(plan.alarm_table[a].type);
    if ((type == CONTROL_ISA_EXTENSION || type == CONTROL_ISA_CATEGORY) &&
        !is_group(type, plan.alarms[a]->value))
      fail_usage(plan.chains[plan.chain_of[a]].text, plan.alarms[a]->value_span,
                 fmt::format("there is no such {}; there are {}",
                             type == CONTROL_ISA_EXTENSION ? "extension" : "category",
                             group_names(type)));
  }
}

} // namespace ovnitrace::control
