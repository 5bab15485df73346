// SPDX-License-Identifier: BSD-2-Clause
#include "user/probe/find_probes.h"

#include "emulator/base/error.h"
#include "emulator/base/small_file.h"
#include "user/probe/command_words.h"
#include "user/probe/elf_file.h"
#include "user/probe/mapped_files.h"
#include "user/probe/regular_file.h"
#include "user/probe/search_path.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kMostPlaces = 1 << 20;         // where files could be: some seconds
constexpr size_t kMostNames = 1 << 14;          // of libraries
constexpr uint64_t kMostFileBytes = 1ull << 30; // of all files together
constexpr size_t kMostCacheBytes = 64 << 20;

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

LibraryCache read_cache() {
  std::string error;
  return LibraryCache(read_small_file("/etc/ld.so.cache", kMostCacheBytes, error).value_or(""));
}

class Finder {
public:
  Finder() : libraries_(read_cache()) { libraries_.add(environment("LD_LIBRARY_PATH"), "."); }
  void look_at_file(const std::string &path);
  void look_at_command(const std::vector<std::string> &command);
  void look_at_process(uint32_t pid);
  FoundProbes take() { return std::move(found_); }

private:
  enum class Looked { kNo, kEarlier, kHasNone, kHasProbes };
  Looked look(const std::string &path, UniqueFd fd);
  void look_at_place(const std::string &path, UniqueFd (*open)(const std::string &));
  void look_at_needed();
  bool may_go_on();
  std::vector<std::string> places_of(const std::string &program) const;

  SearchPath libraries_;
  std::set<std::pair<dev_t, ino_t>> seen_;
  std::set<std::string> asked_;     ///< names of libraries
  std::vector<std::string> needed_; ///< of them, those to be looked for
  size_t probes_ = 0;
  size_t places_ = 0;
  uint64_t bytes_ = 0;
  FoundProbes found_;
};

std::string directory_of(const std::string &path) {
  char *real = realpath(path.c_str(), nullptr);
  std::string directory = real ? real : path;
  std::free(real);
  const size_t slash = directory.rfind('/');
  return slash == directory.npos ? "." : directory.substr(0, slash);
}

Finder::Looked Finder::look(const std::string &path, UniqueFd fd) {
  struct stat status;
  if (!fd || fstat(fd.get(), &status) != 0)
    return Looked::kNo;
  if (!seen_.insert({status.st_dev, status.st_ino}).second)
    return Looked::kEarlier;
  std::optional<ElfFile> file = read_elf_file(fd.get());
  if (!file)
    return Looked::kHasNone;
  bytes_ += file->bytes_read;
  for (const std::string &list : file->rpaths)
    libraries_.add(list, directory_of(path));
  for (const std::string &name : file->needed)
    if (asked_.size() == kMostNames)
      found_.cut_short = true;
    else if (asked_.insert(name).second)
      needed_.push_back(name);
  if (file->probes.empty() && !file->not_understood)
    return Looked::kHasNone;
  const size_t room = kMostProbes - probes_;
  if (file->probes.size() > room) {
    file->not_understood += file->probes.size() - room;
    file->probes.resize(room);
  }
  probes_ += file->probes.size();
  found_.files.push_back({path, std::move(fd), std::move(file->probes), file->not_understood});
  return Looked::kHasProbes;
}

bool Finder::may_go_on() {
  const bool more =
      places_ < kMostPlaces && seen_.size() < kMostProbedFiles && bytes_ < kMostFileBytes;
  found_.cut_short |= !more;
  return more;
}

void Finder::look_at_place(const std::string &path, UniqueFd (*open)(const std::string &)) {
  if (may_go_on()) {
    places_++;
    look(path, open(path));
  }
}

void Finder::look_at_needed() {
  for (size_t n = 0; n < needed_.size() && may_go_on(); n++)
    for (const std::string &path : libraries_.candidates(std::string(needed_[n])))
      look_at_place(path, open_regular);
  needed_.clear();
}

/// As execvp() finds it, and in the current directory, where launchers look too.
std::vector<std::string> Finder::places_of(const std::string &program) const {
  if (program.find('/') != program.npos)
    return {program};
  std::vector<std::string> places;
  const std::string path = environment("PATH");
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find(':', at), path.size());
    const std::string directory = path.substr(at, end - at);
    places.push_back((directory.empty() ? "." : directory) + "/" + program);
    at = end + 1;
  }
  places.push_back("./" + program);
  return places;
}

void Finder::look_at_command(const std::vector<std::string> &command) {
  const CommandWords words = command_words(command);
  for (const std::string &list : words.library_paths)
    libraries_.add(list, ".");
  for (const std::string &program : words.programs)
    for (const std::string &path : places_of(program))
      look_at_place(path, open_program);
  for (const auto &libraries : {words.preloads, preloads_of(environment("LD_PRELOAD"))})
    needed_.insert(needed_.end(), libraries.begin(), libraries.end());
  look_at_needed();
}

void Finder::look_at_process(uint32_t pid) {
  for (MappedFile &file : mapped_files(pid))
    if (may_go_on())
      look(file.path, std::move(file.fd));
  needed_.clear(); // what it needs is mapped
}

void Finder::look_at_file(const std::string &path) {
  UniqueFd fd = open_regular(path);
  const int error = errno;
  if (!fd && path.find('/') == path.npos)
    for (const std::string &place : libraries_.candidates(path))
      if ((fd = open_regular(place)))
        break;
  if (!fd)
    throw Error(fmt::format("--probe {}: cannot read it: {}", path, std::strerror(error)));
  if (look(path, std::move(fd)) == Looked::kHasNone)
    throw Error(fmt::format(
        "--probe {}: it has no probes of ovnitrace; is it the program or library that was "
        "built with ovnitrace/user_event.h or libovnitrace.a, for this kind of machine?",
        path));
}

} // namespace

FoundProbes find_probes(const ProbeSearch &search) {
  Finder finder;
  for (const std::string &path : search.files)
    finder.look_at_file(path);
  if (!search.command.empty())
    finder.look_at_command(search.command);
  if (search.pid)
    finder.look_at_process(search.pid);
  return finder.take();
}

} // namespace ovnitrace
