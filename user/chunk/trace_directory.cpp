// SPDX-License-Identifier: BSD-2-Clause
#include "user/chunk/trace_directory.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "emulator/base/trace_lock.h"
#include "emulator/base/unique_fd.h"
#include "emulator/base/whole_io.h"
#include "emulator/format/codec.h"
#include "emulator/format/trace_part.h"
#include "emulator/output/output_place.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

namespace ovnitrace {

namespace {

bool ends_with_any(const std::string &name, std::initializer_list<const char *> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](const char *ending) { return name.ends_with(ending); });
}

std::string temporary_name(const std::string &name) {
  return "." + name + ".new";
}

/// Returns whether ovnitrace writes a file of that name: chunks, trace.json, and what a conversion
/// and a report leave beside them.
bool is_ours(const std::string &name) {
  return name == "trace.json" || name == "report.html" ||
         (name.starts_with("cpu") && plain_file_name(name).ends_with(".ftr")) ||
         ((name.starts_with("thread.") || name.starts_with("cpu.")) &&
          ends_with_any(name, {".prv", ".prv.gz", ".pcf", ".row"}));
}

/// Removes the views in cfg/, cfg/thread/ and cfg/cpu/, their list, and the folders that are empty
/// then.
void remove_views(int parent, const std::string &folder) {
  int fd = openat(parent, folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return;
  for (const std::string &name : names_in(fd)) {
    if (name.ends_with(".cfg") || name == "README")
      unlinkat(fd, name.c_str(), 0);
    else if (name == "thread" || name == "cpu")
      remove_views(fd, name);
  }
  close(fd);
  unlinkat(parent, folder.c_str(), AT_REMOVEDIR);
}

void remove_trace(int directory) {
  for (const std::string &name : names_in(directory))
    if (is_ours(name))
      unlinkat(directory, name.c_str(), 0);
  remove_views(directory, "cfg");
}

/// Returns 0, or the error.
int remove_part_of(int directory, const std::string &name) {
  const UniqueFd part(
      openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!part || faccessat(part.get(), kPartFile, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
    return errno;
  remove_trace(part.get());
  for (const std::string &file :
       {temporary_name("trace.json"), temporary_name(kPartFile), std::string(kPartFile)})
    unlinkat(part.get(), file.c_str(), 0);
  return unlinkat(directory, name.c_str(), AT_REMOVEDIR) == 0 ? 0 : errno;
}

constexpr size_t kWriteSize = 64 << 10;

/// Returns why a file cannot be made. Files belong to the user who called sudo, who may have fewer
/// rights than root.
std::string reason(int error) {
  const std::string text = std::strerror(error);
  if (error != EACCES && error != EPERM)
    return text;
  const passwd *user = getpwuid(geteuid());
  return fmt::format("{} for user {}", text, user ? user->pw_name : std::to_string(geteuid()));
}

/// Returns whether it is empty or has a trace.json, which may be one that a tracer was killed over.
bool may_replace(int directory) {
  const std::vector<std::string> names = names_in(directory);
  return names.empty() || std::any_of(names.begin(), names.end(), [](const std::string &name) {
           return name == "trace.json" || name == temporary_name("trace.json");
         });
}

} // namespace

TraceDirectory::TraceDirectory(const std::string &wanted, IfExists exists) : path_(wanted) {
  constexpr int kMostNames = 1000;
  made_ = mkdir(path_.c_str(), 0755) == 0;
  for (int n = 2; !made_ && errno == EEXIST && exists == IfExists::next_name && n < kMostNames;
       n++) {
    path_ = fmt::format("{}-{}", wanted, n);
    made_ = mkdir(path_.c_str(), 0755) == 0;
  }
  const std::string &path = path_;
  if (!made_ && errno != EEXIST)
    throw Error("cannot make the trace directory {}: {}; choose another place with -o", path,
                reason(errno));
  if (!made_ && exists != IfExists::overwrite)
    throw Error("{} exists already; choose another with -o, or use -f if it is a trace or empty",
                path);
  open(AT_FDCWD, path.c_str());
}

TraceDirectory::TraceDirectory(const TraceDirectory &whole, const std::string &name)
    : path_(whole.path_ + "/" + name), made_(mkdirat(whole.fd(), name.c_str(), 0755) == 0) {
  if (!made_)
    throw Error("cannot make the part {}: {}", path_, reason(errno));
  open(whole.fd(), name.c_str());
}

void TraceDirectory::open(int parent, const char *name) {
  UniqueFd fd(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd)
    throw Error("cannot open the trace directory {}: {}", path_, reason(errno));
  if (!lock_trace(fd.get()))
    throw Error(
        "{} is being written by another ovnitrace; wait for its end, or choose another with -o",
        path_);
  if (!may_replace(fd.get())) // also one that somebody put in place of the one that we made
    throw Error("{} is not a trace directory: it is not overwritten; choose another with -o",
                path_);
  fd_ = std::move(fd);
}

TraceDirectory::~TraceDirectory() {
  if (reserved_ >= 0) {
    unlinkat(fd_.get(), temporary_name(reserved_name_).c_str(), 0);
    close(reserved_);
  }
}

void TraceDirectory::clear() {
  remove_trace(fd_.get());
  for (const std::string &name : names_in(fd_.get()))
    if (is_part_name(name))
      remove_part_of(fd_.get(), name);
  cleared_ = true;
}

int TraceDirectory::remove_part(const std::string &name) noexcept {
  try {
    return remove_part_of(fd_.get(), name);
  } catch (const std::exception &) { // its files cannot be listed
    return EIO;
  }
}

int TraceDirectory::new_file(const std::string &name) {
  const std::string temporary = temporary_name(name);
  unlinkat(fd_.get(), temporary.c_str(), 0);
  return openat(fd_.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                0644);
}

void TraceDirectory::reserve(const std::string &name, size_t bytes) noexcept {
  reserved_ = new_file(name);
  reserved_name_ = name;
  if (reserved_ >= 0)
    posix_fallocate(reserved_, 0, off_t(bytes)); // what it cannot do now, it could not do later
}

void TraceDirectory::prepare_file(const std::string &name,
                                  const std::function<void(const Put &)> &produce) {
  const bool has_room = reserved_ >= 0 && reserved_name_ == name;
  const int file = has_room ? reserved_ : new_file(name);
  if (file < 0 || lseek(file, 0, SEEK_SET) < 0)
    fail(name, errno);
  std::string waiting;
  int error = 0;
  produce([&](std::string_view text) {
    waiting += text;
    if (waiting.size() < kWriteSize)
      return;
    if (!error && write_all(file, waiting) != waiting.size())
      error = errno;
    waiting.clear();
  });
  if (!error && write_all(file, waiting) != waiting.size())
    error = errno;
  if (has_room && !error && ftruncate(file, lseek(file, 0, SEEK_CUR)) != 0)
    error = errno;
  if (has_room && error)
    throw Error(failure(name, error));
  reserved_ = has_room ? -1 : reserved_;
  if (close(file) != 0 && !error)
    error = errno;
  if (error)
    fail(name, error);
}

void TraceDirectory::put_in_place(const std::string &name) {
  if (renameat(fd_.get(), temporary_name(name).c_str(), fd_.get(), name.c_str()) != 0)
    fail(name, errno);
}

std::string TraceDirectory::failure(const std::string &name, int error) const {
  return fmt::format("cannot write {}/{}: {}", path_, name, reason(error));
}

void TraceDirectory::fail(const std::string &name, int error) {
  unlinkat(fd_.get(), temporary_name(name).c_str(), 0);
  throw Error(failure(name, error));
}

void TraceDirectory::discard() noexcept {
  try {
    unlinkat(fd_.get(), temporary_name("trace.json").c_str(), 0);
    if (made_ || cleared_)
      remove_trace(fd_.get());
    if (made_)
      rmdir(path_.c_str());
  } catch (const std::exception &) {
    // nothing to be done, and nothing that matters: the capture never began
  }
}

std::string default_trace_name(const std::string &program) {
  return fmt::format("{}-{:%Y%m%d-%H%M%S}", program.substr(program.rfind('/') + 1),
                     local_time(time(nullptr)));
}

} // namespace ovnitrace
