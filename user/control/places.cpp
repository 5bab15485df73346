// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/places.h"

#include "emulator/base/printable.h"
#include "user/control/instruction_groups.h"
#include "user/control/leaves.h"
#include "user/control/scan.h"

#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>

namespace ovnitrace::control {

namespace {

constexpr std::string_view kEndbr = "\xf3\x0f\x1e\xfa";
constexpr uint64_t kLowestLoaded = 1 << 16; ///< vm.mmap_min_addr, as distributions set it
/// Where ld puts programs that are not position-independent, on x86-64 and on arm64.
constexpr uint64_t kLowestFixed = 4 << 20;

class Finder {
public:
  Finder(const Plan &plan, const Image &image) : plan_(plan), image_(image) {
    places_.found.resize(plan.alarm_table.size());
    places_.hints.resize(plan.alarm_table.size());
  }
  Places find();
  Places find_loaded(uint64_t bias);

private:
  void find_alarm(uint32_t alarm);
  void find_functions_of(uint32_t alarm, std::string_view name, Naming naming);
  void find_address(uint32_t alarm);
  void find_unloaded_address(uint32_t alarm, uint64_t address);
  bool is_image(std::string_view name) const;
  Places take();
  bool add(uint32_t alarm, uint64_t address, ProbeKind kind, bool function);
  void add_exit(uint32_t alarm, uint64_t address);
  void put(ProbeKind kind, uint64_t offset, uint64_t alarms);

  const Plan &plan_;
  const Image &image_;
  std::map<ProbeKind, std::map<uint64_t, uint64_t>> by_offset_; ///< alarms, a bit each
  Places places_;
};

void Finder::put(ProbeKind kind, uint64_t offset, uint64_t alarms) {
  by_offset_[kind][offset] |= alarms;
}

/// Says why a probe at an address that the user gives would change code in the middle of an
/// instruction, or data; empty: it would not.
std::string why_no_instruction(const Image &image, uint64_t address) {
  for (const Function &function : image.functions)
    if (function.address == address)
      return "";
  const std::optional<uint64_t> start = instruction_at(image, address);
  if (!start)
    return "it is not known where instructions begin, because what lies before it is no code";
  return *start == address ? "" : fmt::format("it is inside the instruction at {:#x}", *start);
}

/// Returns whether a function has the address, as far as symbols and unwind information tell.
bool is_in_function(const Image &image, uint64_t address) {
  return image.bodies.empty() ||
         std::any_of(image.bodies.begin(), image.bodies.end(),
                     [&](const Body &body) { return body.start <= address && address < body.end; });
}

/// Adds a probe. If a function starts with endbr64 and a push, the probe is set on the push, which
/// costs a thirtieth. Returns false, with the reason, if the place cannot be probed.
bool Finder::add(uint32_t alarm, uint64_t address, ProbeKind kind, bool function) {
  const auto code = image_.bytes_at(address, 16);
  if (function && code.starts_with(kEndbr) && code.size() > kEndbr.size() &&
      (code[kEndbr.size()] == '\x55' || code[kEndbr.size()] == '\x53'))
    address += kEndbr.size();
  const std::optional<uint64_t> offset = image_.offset_of(address);
  std::string why =
      offset ? why_no_probe(image_.bytes_at(address, 16)) : "it is no code of the file";
  if (why.empty() && !function)
    why = why_no_instruction(image_, address);
  if (!why.empty()) {
    places_.unfit.push_back({alarm, fmt::format("{:#x} in {} cannot be probed: {}", address,
                                                printable_line(image_.path), why)});
    return false;
  }
  if (!function && !is_in_function(image_, address))
    places_.notes.push_back(fmt::format(
        "{:#x} in {} is in no known function: a program that reads it as data sees the probe",
        address, printable_line(image_.path)));
  places_.found[alarm] += kind != ProbeKind::leave;
  put(kind, *offset, 1ull << alarm);
  return true;
}

/// Probes the entry, to know which call is the outermost, and every instruction that leaves the
/// function.
void Finder::add_exit(uint32_t alarm, uint64_t address) {
  const Leaves leaves = find_leaves(image_, address);
  std::string why = leaves.refused;
  for (uint64_t at : leaves.at)
    if (const std::string no = why_no_probe(image_.bytes_at(at, 16)); !no.empty() && why.empty())
      why = fmt::format("{} at {:#x}", no, at);
  if (why.empty() && leaves.at.empty())
    why = "it never returns";
  if (!why.empty())
    places_.unfit.push_back(
        {alarm, fmt::format("the exit of the function at {:#x} in {} cannot be probed: {}", address,
                            printable_line(image_.path), why)});
  else if (add(alarm, address, ProbeKind::alarm, true))
    for (uint64_t at : leaves.at)
      add(alarm, at, ProbeKind::leave, true);
}

void Finder::find_functions_of(uint32_t alarm, std::string_view name, Naming naming) {
  const std::vector<uint64_t> addresses = find_functions(image_, name, naming);
  const control_type type = control_type(plan_.alarm_table[alarm].type);
  const ProbeKind kind = type == CONTROL_PCONTROL ? ProbeKind::pcontrol : ProbeKind::alarm;
  for (uint64_t address : addresses)
    if (type == CONTROL_EXIT_FUNC)
      add_exit(alarm, address);
    else
      add(alarm, address, kind, true);
  if (is_indirect(image_, name, naming)) {
    const auto others = implementations(image_, name, 5);
    places_.unfit.push_back(
        {alarm,
         fmt::format(
             "{} in {} is an IFUNC: when the file is loaded, each process chooses one of several "
             "functions; name that function{}, or give IMAGE+OFFSET (docs/control.md says how to "
             "find it)",
             printable_line(name), printable_line(image_.path),
             others.empty() ? "" : fmt::format(", for example {}", fmt::join(others, ", "))),
         true});
  }
  const uint32_t set = places_.found[alarm];
  if (addresses.size() > 1 && set > 0 && type != CONTROL_PCONTROL)
    places_.notes.push_back(
        fmt::format("{} functions are called {} in {}: the alarm is set in {} of them",
                    addresses.size(), printable_line(name), printable_line(image_.path),
                    set == addresses.size() ? "all" : std::to_string(set)));
}

/// Returns whether the name is that of the file, or of any path of it, so that it does not matter
/// how it was started.
bool Finder::is_image(std::string_view name) const {
  const std::string_view path = image_.path;
  if (name == path || name == path.substr(path.rfind('/') + 1))
    return true;
  struct stat status;
  return name.find('/') != name.npos && stat(std::string(name).c_str(), &status) == 0 &&
         status.st_dev == image_.device && status.st_ino == image_.inode;
}

/// Says of an address that it is not one of the process, if that is known.
void Finder::find_unloaded_address(uint32_t alarm, uint64_t address) {
  std::string &hint = places_.hints[alarm];
  hint = "programs and libraries are loaded at random addresses, unless they run under setarch -R "
         "or are linked with -no-pie: use IMAGE+OFFSET";
  const bool in_file = image_.offset_of(address).has_value();
  if (in_file)
    hint += fmt::format(", such as {}+{:x}",
                        printable_line(image_.path.substr(image_.path.rfind('/') + 1)),
                        address - image_.base);
  if ((in_file && address < kLowestFixed) || address < kLowestLoaded)
    places_.as_linked |= 1ull << alarm;
}

/// 0xADDRESS, IMAGE+OFFSET or a function, as parse_chain() has accepted it.
void Finder::find_address(uint32_t alarm) {
  const Alarm &written = *plan_.alarms[alarm];
  const std::string &text = written.value;
  const size_t plus = text.rfind('+');
  if (written.is_address()) {
    if (!image_.fixed)
      find_unloaded_address(alarm, written.number);
    else if (image_.offset_of(written.number))
      add(alarm, written.number, ProbeKind::alarm, false);
  } else if (plus != text.npos && plus > 0 && text.find("operator") == text.npos) {
    if (is_image(std::string_view(text.data(), plus)))
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
  struct Refused {
    size_t count = 0;
    std::string why;
  };
  std::vector<Refused> refused(places_.found.size()); // by alarm
  size_t perhaps_data = 0;
  for (const Marker &marker : scan(plan_, image_)) {
    const std::string reason = why_no_probe(image_.bytes_at(marker.address, 16));
    const std::optional<uint64_t> offset = image_.offset_of(marker.address);
    if (!marker.in_function) {
      perhaps_data++;
      continue;
    }
    const bool fits = reason.empty() && offset;
    if (fits)
      put(ProbeKind::alarm, *offset, marker.alarms);
    for (uint32_t a = 0; a < places_.found.size(); a++)
      if (marker.alarms >> a & 1) {
        if (fits)
          places_.found[a]++;
        else
          refused[a] = {refused[a].count + 1, reason};
      }
  }
  for (uint32_t a = 0; a < refused.size(); a++)
    if (refused[a].count)
      places_.unfit.push_back(
          {a, fmt::format("{} instructions in {} cannot be probed: {}", refused[a].count,
                          printable_line(image_.path), refused[a].why)});
  if (perhaps_data)
    places_.notes.push_back(fmt::format(
        "{} instructions in {} may be data and are not probed: no function that symbols or unwind "
        "information tell of has them",
        perhaps_data, printable_line(image_.path)));
  for (uint64_t address : find_functions(image_, "_dl_debug_state", Naming::bare))
    if (const auto offset = image_.offset_of(address))
      put(ProbeKind::library, *offset, 0);
  return take();
}

Places Finder::take() {
  for (const auto &[kind, offsets] : by_offset_)
    for (const auto &[offset, alarms] : offsets)
      places_.probes[kind].push_back({offset, alarms});
  return std::move(places_);
}

Places Finder::find_loaded(uint64_t bias) {
  for (uint32_t a = 0; a < plan_.alarm_table.size(); a++)
    if (const Alarm &written = *plan_.alarms[a];
        written.is_address() && image_.offset_of(written.number - bias))
      add(a, written.number - bias, ProbeKind::alarm, false);
  return take();
}

} // namespace

Places find_places(const Plan &plan, const Image &image) {
  return Finder(plan, image).find();
}

Places find_loaded_addresses(const Plan &plan, const Image &image, uint64_t bias) {
  return Finder(plan, image).find_loaded(bias);
}

void check_groups(const Plan &plan) {
  for (size_t a = 0; a < plan.alarm_table.size(); a++) {
    const control_type type = control_type(plan.alarm_table[a].type);
    if (type != CONTROL_ISA_EXTENSION && type != CONTROL_ISA_CATEGORY)
      continue;
    if (const std::string why = why_no_group(type, plan.alarms[a]->value); !why.empty())
      fail_usage(plan.chains[plan.chain_of[a]].text, plan.alarms[a]->value_span, why);
  }
}

} // namespace ovnitrace::control
