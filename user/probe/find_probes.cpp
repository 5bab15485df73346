// SPDX-License-Identifier: BSD-2-Clause
#include "user/probe/find_probes.h"

#include "emulator/base/error.h"
#include "emulator/base/regular_file.h"
#include "user/probe/elf_file.h"
#include "user/probe/mapped_files.h"
#include "user/probe/needed_libraries.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>

namespace ovnitrace {

namespace {

class Finder {
public:
  explicit Finder(uint64_t most_bytes) : most_bytes_(most_bytes) {}
  void look_at_file(const std::string &path);
  void look_at_program(const std::string &name, const Identity &identity);
  void look_at_process(uint32_t pid);
  FoundProbes take() { return std::move(found_); }

private:
  enum class Looked { kNo, kEarlier, kHasNone, kHasProbes };
  Looked look(const std::string &path, UniqueFd fd, size_t most);
  void look_if_new(const std::string &path, UniqueFd fd);

  std::set<std::pair<dev_t, ino_t>> seen_;
  std::string interpreter_; ///< of the file that was looked at last
  size_t probes_ = 0;
  const uint64_t most_bytes_;
  uint64_t bytes_ = 0; ///< that were read
  FoundProbes found_;
};

/// Looks for probes in a file. `most`: how many files may have been found before.
Finder::Looked Finder::look(const std::string &path, UniqueFd fd, size_t most) {
  interpreter_.clear();
  struct stat status;
  if (!fd || fstat(fd.get(), &status) != 0)
    return Looked::kNo;
  if (!seen_.insert({status.st_dev, status.st_ino}).second)
    return Looked::kEarlier;
  std::optional<ElfFile> file = read_elf_file(fd.get());
  if (!file)
    return Looked::kHasNone;
  bytes_ += file->bytes_read;
  interpreter_ = file->interpreter;
  if (file->probes.empty() && !file->not_understood)
    return Looked::kHasNone;
  if (found_.files.size() >= most) {
    found_.left_out++;
    return Looked::kHasProbes;
  }
  const size_t room = kMostProbes - probes_;
  if (file->probes.size() > room) {
    file->not_understood += file->probes.size() - room;
    file->probes.resize(room);
  }
  probes_ += file->probes.size();
  found_.files.push_back({path, std::move(fd), std::move(file->probes), file->not_understood});
  return Looked::kHasProbes;
}

void Finder::look_if_new(const std::string &path, UniqueFd fd) {
  if (seen_.size() < kMostProbedFiles && bytes_ < most_bytes_)
    look(path, std::move(fd), kMostFoundFiles);
}

void Finder::look_at_program(const std::string &name, const Identity &identity) {
  const std::string path = path_of_program(name);
  if (look(path, open_program(path), kMostFoundFiles) == Looked::kEarlier) // by --probe
    if (const auto file = read_elf_file(open_program(path).get()))
      interpreter_ = file->interpreter;
  for (const std::string &library : needed_libraries(interpreter_, path, identity))
    look_if_new(library, open_regular(library));
}

void Finder::look_at_process(uint32_t pid) {
  for (MappedFile &file : mapped_files(pid))
    look_if_new(file.path, std::move(file.fd));
}

void Finder::look_at_file(const std::string &path) {
  UniqueFd fd = open_regular(path);
  if (!fd)
    throw Error("--probe {}: cannot read it: {}", path, std::strerror(errno));
  if (look(path, std::move(fd), kMostProbedFiles) == Looked::kHasNone)
    throw Error("--probe {}: it has no probes of ovnitrace; is it the program or library that was "
                "built with ovnitrace/user_event.h or libovnitrace.a, for this kind of machine?",
                path);
}

} // namespace

std::string path_of_program(const std::string &program) {
  const char *list = std::getenv("PATH");
  const std::string path = list ? list : "/bin:/usr/bin"; // as execvp() has it
  if (program.find('/') != program.npos)
    return program;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find(':', at), path.size());
    const std::string directory = path.substr(at, end - at);
    const std::string place = (directory.empty() ? "." : directory) + "/" + program;
    if (open_program(place))
      return place;
    if (is_machine_failure(errno)) // it may be there
      throw Error("cannot read {}: {}", place, std::strerror(errno));
    at = end + 1;
  }
  return {};
}

FoundProbes find_probes(const ProbeSearch &search) {
  Finder finder(search.most_bytes);
  for (const std::string &path : search.files)
    finder.look_at_file(path);
  if (!search.program.empty())
    finder.look_at_program(search.program, search.identity);
  for (uint32_t pid : search.pids)
    finder.look_at_process(pid);
  return finder.take();
}

} // namespace ovnitrace
