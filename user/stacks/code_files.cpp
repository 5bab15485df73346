// SPDX-License-Identifier: BSD-2-Clause
#include "user/stacks/code_files.h"

#include "emulator/base/confined.h"
#include "emulator/base/regular_file.h"
#include "emulator/symbols/call_frames.h"
#include "emulator/symbols/debug_places.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace ovnitrace {

namespace {

constexpr ConfinedLimits kLimits = {.memory = 512u << 20, .seconds = 10};
constexpr size_t kLongest = 4096; ///< bytes of an answer

uint64_t ns_of(const timespec &time) {
  return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}

/// Returns the root folder of a process; nothing if it has ended, or is not ours to look into.
UniqueFd root_of(uint32_t pid) {
  return UniqueFd(
      ::open(fmt::format("/proc/{}/root", pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/// Returns whether a process sees other files than we do. `root`: its root folder.
bool in_container(uint32_t pid, int root) {
  struct stat ours, theirs, our_mounts, their_mounts;
  const auto differ = [](const struct stat &a, const struct stat &b) {
    return a.st_ino != b.st_ino || a.st_dev != b.st_dev;
  };
  return fstat(root, &theirs) != 0 || stat("/", &ours) != 0 || differ(ours, theirs) ||
         stat(fmt::format("/proc/{}/ns/mnt", pid).c_str(), &their_mounts) != 0 ||
         stat("/proc/self/ns/mnt", &our_mounts) != 0 || differ(our_mounts, their_mounts);
}

/// Moves a descriptor where a confined child can keep it.
UniqueFd kept(UniqueFd file) {
  return UniqueFd(file ? fcntl(file.get(), F_DUPFD_CLOEXEC, kFirstKeptFile) : -1);
}

} // namespace

void CodeFiles::open(const std::vector<Use> &uses) {
  const std::lock_guard lock(lock_);
  const uint64_t epoch = clock_ns(CLOCK_REALTIME) - monotonic_ns();
  for (const auto &[file, by] : uses) {
    const auto known = files_.find(*file);
    if (known == files_.end() ? files_.size() >= kMost : bool(known->second.file))
      continue;
    struct stat status = {};
    UniqueFd root = root_of(by.pid);
    UniqueFd fd = root ? open_inside(root.get(), file->path, status) : UniqueFd();
    const bool seen = bool(fd); // as the process sees it
    if (!fd || status.st_ino != file->inode) {
      root = UniqueFd();
      fd = open_absolute(file->path, status);
    }
    fd = kept(std::move(fd));
    if (!fd || (!seen && status.st_ino != file->inode))
      continue; // it may be another file of a container that we may not look into
    Kept &entry = files_[*file];
    entry.changed =
        status.st_ino != file->inode || ns_of(status.st_ctim) > epoch + std::max(by.time, since_);
    if (entry.changed)
      continue;
    entry.file = std::move(fd);
    entry.modified = status.st_mtim;
    if (root && in_container(by.pid, root.get()))
      containers_.push_back({*file, std::move(root)});
  }
}

void CodeFiles::look_into_containers() {
  const std::lock_guard lock(lock_);
  std::vector<int> files;
  for (const auto &[file, root] : containers_)
    files.push_back(files_[file].file.get());
  ConfinedLimits limits = kLimits;
  limits.files = files;
  ask_confined(
      files.size(), limits,
      [&](size_t n, ConfinedOutput &out) {
        const auto symbols = ElfSymbols::open("/", "", {.file = files[n]});
        out.text(symbols ? symbols->build_id().substr(0, kLongest) : "");
        out.text(symbols ? symbols->debug_link().substr(0, kLongest) : "");
      },
      [&](size_t n, ConfinedInput &in) {
        const std::string build_id = in.text(kLongest), link = in.text(kLongest);
        struct stat status;
        const auto &[file, root] = containers_[n];
        for (const std::string &place : debug_places(file.path, build_id, link))
          if (Kept &entry = files_[file]; !entry.debug)
            entry.debug = kept(open_inside(root.get(), place, status));
      },
      [](size_t) {});
  containers_.clear();
}

CodeFiles::Opened CodeFiles::find(const CodeFile &file) const {
  const std::lock_guard lock(lock_);
  const auto found = files_.find(file);
  if (found == files_.end())
    return {};
  const Kept &kept = found->second;
  struct stat status;
  if (!kept.file)
    return {.files = {}, .changed = kept.changed};
  if (fstat(kept.file.get(), &status) != 0 || ns_of(status.st_mtim) != ns_of(kept.modified))
    return {.files = {}, .changed = true};
  return {.files = {kept.file.get(), kept.debug.get()}};
}

void CodeFiles::find_debug_data(const std::vector<CodeFile> &files, const Fetch &fetch) {
  const std::lock_guard lock(lock_);
  std::vector<std::pair<std::string, Kept *>> asked; // by path: the data may be beside the file
  std::vector<int> open;
  for (const CodeFile &file : files)
    if (const auto found = files_.find(file); found != files_.end() && found->second.file) {
      asked.emplace_back(file.path, &found->second);
      for (const int fd : {found->second.file.get(), found->second.debug.get()})
        if (fd >= 0)
          open.push_back(fd);
    }
  ConfinedLimits limits = kLimits;
  limits.files = open;
  ask_confined(
      asked.size(), limits,
      [&](size_t n, ConfinedOutput &out) {
        const auto &[path, one] = asked[n];
        const auto symbols =
            ElfSymbols::open(path, "", {.file = one->file.get(), .debug = one->debug.get()});
        out.text(symbols && !symbols->has_debug_data() ? symbols->build_id().substr(0, kLongest)
                                                       : "");
      },
      [&](size_t n, ConfinedInput &in) {
        if (const std::string build_id = in.text(kLongest); is_build_id(build_id))
          asked[n].second->debug = kept(fetch(build_id));
      },
      [](size_t) {});
}

} // namespace ovnitrace
