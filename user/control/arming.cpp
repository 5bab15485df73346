// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/arming.h"

#include "emulator/base/error.h"
#include "emulator/base/printable.h"
#include "user/launch/file_limit.h"
#include "user/probe/elf_file.h"
#include "user/probe/find_probes.h"
#include "user/probe/mapped_files.h"
#include "user/probe/needed_libraries.h"
#include "user/probe/regular_file.h"

#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ovnitrace::control {

namespace {

constexpr size_t kMostProbes = 1 << 16; ///< in all files together
constexpr size_t kMostNear = 5;

/// What is added to the addresses of a file where it is loaded.
std::optional<uint64_t> bias_of(const Image &image, const MappedFile *mapped) {
  for (const Code &code : image.code)
    if (mapped && code.offset >= mapped->offset)
      return mapped->address - mapped->offset - (code.address - code.offset);
  return {};
}

} // namespace

Arming::Arming(const Plan &plan, Programs *programs, Say say)
    : plan_(plan), programs_(programs), say_(std::move(say)), found_(plan.alarm_table.size()),
      near_(plan.alarm_table.size()) {}

bool Arming::needs_probe(size_t alarm) const {
  const Source source = type_of(control_type(plan_.alarm_table[alarm].type))->source;
  return source == Source::probe || source == Source::return_probe;
}

void Arming::arm(const std::string &path, int fd, const Places &places) {
  size_t count = 0;
  for (const auto &[kind, at] : places.probes)
    count += at.size();
  if (probes_ + count > kMostProbes) {
    say_(fmt::format("--control: {} places in {} are more than can be probed together with the {} "
                     "of other files ({} in all): its alarms do not hit there",
                     count, printable_line(path), probes_, kMostProbes));
    return;
  }
  probes_ += count;
  if (!programs_)
    return;
  raise_file_limit(programs_->files_needed(count));
  for (const auto &[kind, at] : places.probes)
    if (const int error = programs_->add_probes(kind, fmt::format("/proc/self/fd/{}", fd), at))
      say_(fmt::format("--control: the kernel refuses probes in {}: {} (return probes of many "
                       "places need Linux 6.6)",
                       printable_line(path), std::strerror(error)));
}

void Arming::look(const std::string &path, int fd, const MappedFile *mapped) {
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0 || !seen_.insert({status.st_dev, status.st_ino}).second)
    return;
  const std::optional<Image> image = read_image(path, fd);
  if (!image)
    return;
  has_loader_ |= image->has_interpreter;
  const Places places = find_places(plan_, *image, bias_of(*image, mapped));
  for (size_t a = 0; a < found_.size(); a++) {
    found_[a] += places.found[a];
    const control_type type = control_type(plan_.alarm_table[a].type);
    const bool named =
        type == CONTROL_ADDRESS || type == CONTROL_ENTER_FUNC || type == CONTROL_EXIT_FUNC;
    if (named && !found_[a])
      for (std::string &name : nearest_names(*image, plan_.alarms[a]->value, kMostNear))
        if (near_[a].size() < kMostNear &&
            std::find(near_[a].begin(), near_[a].end(), name) == near_[a].end())
          near_[a].push_back(std::move(name));
  }
  for (const std::string &note : places.notes)
    if (said_.insert(note).second)
      say_("--control: " + note);
  arm(path, fd, places);
}

void Arming::look_at_program(const std::string &name, const Identity &identity) {
  std::vector<std::pair<std::string, UniqueFd>> files;
  {
    EffectiveIdentity as_user(identity);
    const std::string path = path_of_program(name);
    files.emplace_back(path, open_program(path));
    if (!files[0].second)
      throw ovnitrace::Error(
          fmt::format("--control: cannot read {}: {}", path, std::strerror(errno)));
    const auto elf = read_elf_file(files[0].second.get());
    has_loader_ |= !elf; // a script: its interpreter is a program that is executed later
    if (elf && !elf->interpreter.empty()) {
      files.emplace_back(elf->interpreter, open_regular(elf->interpreter));
      for (const std::string &library : needed_libraries(elf->interpreter, path, identity))
        files.emplace_back(library, open_regular(library));
    }
  }
  for (const auto &[path, fd] : files)
    look(path, fd.get(), nullptr);
}

void Arming::look_at_process(uint32_t pid) {
  for (const MappedFile &file : mapped_files(pid))
    look(file.path, file.fd.get(), &file);
}

bool Arming::missing() const {
  for (size_t a = 0; a < found_.size(); a++)
    if (needs_probe(a) && !found_[a])
      return true;
  return false;
}

void Arming::report_missing(const std::string &later) const {
  for (size_t a = 0; a < found_.size(); a++) {
    if (!needs_probe(a) || found_[a])
      continue;
    const Alarm &alarm = *plan_.alarms[a];
    std::string what = printable_line(
        plan_.chains[plan_.chain_of[a]].text.substr(alarm.span.at, alarm.span.length));
    std::string near;
    if (!near_[a].empty())
      near = fmt::format("; near to it are {}", fmt::join(near_[a], ", "));
    say_(fmt::format("--control: nothing that is loaded has what {} looks for (a function may be "
                     "inlined, or the file stripped: then IMAGE+OFFSET){}; {}",
                     what, near, later));
  }
}

} // namespace ovnitrace::control
