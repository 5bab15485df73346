// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/arming.h"

#include "emulator/base/error.h"
#include "emulator/base/printable.h"
#include "emulator/base/regular_file.h"
#include "user/launch/file_limit.h"
#include "user/probe/elf_file.h"
#include "user/probe/find_probes.h"
#include "user/probe/mapped_files.h"
#include "user/probe/needed_libraries.h"

#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ovnitrace::control {

namespace {

constexpr size_t kMostProbes = 1 << 16; ///< in all files together
constexpr size_t kMostNear = 5;

/// Returns what must be added to the addresses of a file where it is loaded.
std::optional<uint64_t> bias_of(const Image &image, const MappedFile &mapped) {
  for (const Code &code : image.code)
    if (code.offset >= mapped.offset)
      return mapped.address - mapped.offset - (code.address - code.offset);
  return {};
}

} // namespace

Arming::Arming(const Plan &plan, Probes *kernel, Say say)
    : plan_(plan), kernel_(kernel), say_(std::move(say)), found_(plan.alarm_table.size()),
      near_(plan.alarm_table.size()), hints_(plan.alarm_table.size()) {}

bool Arming::needs_probe(size_t alarm) const {
  return type_of(control_type(plan_.alarm_table[alarm].type))->source == Source::probe;
}

void Arming::limit(const std::string &path, Places &places) {
  size_t count = 0;
  for (const auto &[kind, at] : places.probes)
    count += at.size();
  if (probes_ + count > kMostProbes) {
    say_(fmt::format("--control: {} places in {} are more than can be probed together with the {} "
                     "of other files ({} in all): its alarms do not hit there",
                     count, printable_line(path), probes_, kMostProbes));
    places.probes.clear();
    return;
  }
  probes_ += count;
}

void Arming::arm(uint32_t pid, const MappedFile &file, const Places &places, bool own) {
  for (const auto &[kind, at] : places.probes) {
    raise_file_limit(kernel_->files_needed(at.size()));
    const std::string name = fmt::format("/proc/self/fd/{}", file.fd.get());
    const int error = kernel_->add_probes(kind, pid, name, at, own);
    if (error && error != ESRCH && // it has ended
        said_.insert(fmt::format("{}: {}", file.path, error)).second)
      say_(fmt::format("--control: the kernel refuses probes in {}: {}", printable_line(file.path),
                       std::strerror(error)));
  }
}

bool Arming::may_hold_address(const MappedFile &mapped) const {
  return std::any_of(plan_.alarms.begin(), plan_.alarms.end(), [&](const Alarm *alarm) {
    return alarm->is_address() && alarm->number - mapped.address < mapped.length;
  });
}

/// Looks for alarms by address. Each process may have loaded the file at another address.
void Arming::look_for_addresses(uint32_t pid, const MappedFile &mapped, bool own) {
  const std::optional<Image> image = read_image(mapped.path, mapped.fd.get());
  const std::optional<uint64_t> bias = image ? bias_of(*image, mapped) : std::nullopt;
  if (!bias || image->fixed)
    return;
  Places places = find_loaded_addresses(plan_, *image, *bias);
  add(places, mapped.path);
  arm(pid, mapped, places, own);
}

void Arming::say(const std::string &line) {
  if (said_.insert(line).second)
    say_("--control: " + line);
}

void Arming::add(Places &places, const std::string &path) {
  for (size_t a = 0; a < found_.size(); a++) {
    found_[a] += places.found[a];
    if (hints_[a].empty() || places.as_linked >> a & ~as_linked_ >> a & 1)
      hints_[a] = places.hints[a];
  }
  as_linked_ |= places.as_linked;
  for (const Unfit &one : places.unfit) {
    named_ |= 1ull << one.alarm;
    if (runs_)
      say(one.why);
    else
      unfit_.push_back(one);
  }
  for (const std::string &note : places.notes)
    say(note);
  limit(path, places);
}

/// Returns the file, which is read the first time; null if it is not open.
const Arming::File *Arming::look(const std::string &path, int fd) {
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0)
    return nullptr;
  const auto [found, is_new] = files_.try_emplace(id_of(status));
  File &file = found->second;
  if (!is_new)
    return &file;
  errno = 0;
  const std::optional<Image> image = read_image(path, fd);
  const int read_error = image ? image->read_error : errno;
  if (is_machine_failure(read_error))
    say_(fmt::format("--control: cannot read all of {}: {}; alarms may not hit in it",
                     printable_line(path), std::strerror(read_error)));
  if (!image) {
    if (plan_.has(Source::probe) && is_foreign_program(fd))
      say_(fmt::format("--control: alarms that need probes do not hit in {}: it is not a 64-bit "
                       "program for this machine",
                       printable_line(path)));
    return &file;
  }
  file.has_interpreter = image->has_interpreter;
  file.is_program = true;
  has_loader_ |= image->has_interpreter;
  file.places = find_places(plan_, *image);
  add(file.places, path);
  for (size_t a = 0; a < found_.size(); a++) {
    const Alarm &alarm = *plan_.alarms[a];
    const ValueKind kind = type_of(control_type(plan_.alarm_table[a].type))->value;
    const bool named =
        kind == ValueKind::function || (kind == ValueKind::place && !alarm.is_address());
    if (named && !found_[a])
      for (std::string &name : nearest_names(*image, alarm.value, kMostNear))
        if (near_[a].size() < kMostNear &&
            std::find(near_[a].begin(), near_[a].end(), name) == near_[a].end())
          near_[a].push_back(std::move(name));
  }
  return &file;
}

void Arming::look_at_program(const std::string &name, const Identity &identity) {
  std::vector<std::pair<std::string, UniqueFd>> files;
  {
    EffectiveIdentity as_user(identity);
    const std::string path = path_of_program(name);
    if (path.empty())
      throw ovnitrace::Error("--control: cannot find {} in PATH", printable_line(name));
    files.emplace_back(path, open_program(path));
    if (!files[0].second)
      throw ovnitrace::Error("--control: cannot read {}: {}", printable_line(path),
                             std::strerror(errno));
    if (plan_.has(Source::probe) && is_foreign_program(files[0].second.get()))
      throw UsageError("--control: cannot set probes in {}: it is not a 64-bit program for this "
                       "machine; timeout, interactive, icount and int3 work without probes",
                       printable_line(path));
    const auto elf = read_elf_file(files[0].second.get());
    has_loader_ |= !elf; // a script: its interpreter is a program that is executed later
    if (elf && !elf->interpreter.empty()) {
      files.emplace_back(elf->interpreter, open_regular(elf->interpreter));
      for (const std::string &library : needed_libraries(elf->interpreter, path, identity))
        files.emplace_back(library, open_regular(library));
    }
  }
  for (const auto &[path, fd] : files) {
    look(path, fd.get());
    if (in_program_.empty())
      in_program_ = found_;
  }
}

std::optional<Arming::FileId> Arming::program_of(uint32_t pid) {
  struct stat status;
  if (stat(fmt::format("/proc/{}/exe", pid).c_str(), &status) != 0)
    return {};
  return id_of(status);
}

Arming::FileId Arming::id_of(const struct stat &status) {
  return {status.st_dev, status.st_ino, uint64_t(status.st_size), status.st_mtim.tv_sec,
          status.st_mtim.tv_nsec};
}

void Arming::look_at_process(uint32_t pid) {
  const std::optional<FileId> program = program_of(pid);
  const std::vector<MappedFile> mapped = mapped_files(pid);
  std::vector<std::pair<FileId, const File *>> files; // of `mapped`
  bool alone = false;                                 // the program loads no others
  for (const MappedFile &one : mapped) {
    struct stat status = {};
    fstat(one.fd.get(), &status);
    files.emplace_back(id_of(status), nullptr);
    if (files.back().first == program) {
      files.back().second = look(one.path, one.fd.get());
      alone = files.back().second && files.back().second->is_program &&
              !files.back().second->has_interpreter;
    }
  }
  if (alone && processes_[pid].program != program)
    forget(pid, true); // it has executed this one, and what it had probed before it might map now
  Process &process = processes_[pid];
  process.program = program;
  for (size_t n = 0; n < mapped.size(); n++) {
    auto &[id, file] = files[n];
    if (alone && id != program)
      continue;
    if (!file)
      file = look(mapped[n].path, mapped[n].fd.get());
    if (!kernel_ || !file || !file->is_program || !process.probed.insert(id).second)
      continue;
    arm(pid, mapped[n], file->places, id == program);
    if (may_hold_address(mapped[n]))
      look_for_addresses(pid, mapped[n], id == program);
  }
}

void Arming::forget(uint32_t pid, bool now) {
  if (processes_.erase(pid) && kernel_)
    kernel_->drop_probes(pid, now);
}

bool Arming::missing() const {
  for (size_t a = 0; a < found_.size(); a++)
    if (needs_probe(a) && !found_[a])
      return true;
  return false;
}

void Arming::refuse(size_t alarm, const std::string &why) const {
  fail_usage(plan_.chains[plan_.chain_of[alarm]].text, plan_.alarms[alarm]->value_span, why);
}

void Arming::refuse_impossible() {
  for (const Unfit &one : unfit_) {
    // The dynamic loader, for example, has a strlen of its own, which is not the one of the libc.
    const bool own = one.indirect && !in_program_.empty();
    if (!(own ? in_program_ : found_)[one.alarm])
      refuse(one.alarm, one.why);
  }
  for (size_t a = 0; a < found_.size(); a++)
    if (plan_.alarms[a]->is_address() && !found_[a] && as_linked_ >> a & 1)
      refuse(a, "no code is loaded at this address" + (hints_[a].empty() ? "" : ": " + hints_[a]));
  runs_ = true;
  for (const Unfit &one : unfit_)
    say(one.why);
}

void Arming::report_missing(const std::string &later) const {
  for (size_t a = 0; a < found_.size(); a++) {
    if (!needs_probe(a) || found_[a] || named_ >> a & 1)
      continue;
    std::string why = hints_[a];
    if (why.empty())
      why = "if the function is inlined or the file is stripped, give IMAGE+OFFSET";
    if (!near_[a].empty())
      why += fmt::format("; similar names: {}", fmt::join(near_[a], ", "));
    say_(fmt::format("--control: no loaded file contains what {} looks for ({}); {}",
                     text_of(plan_, a), why, later));
  }
}

} // namespace ovnitrace::control
