// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/output/atomic_file.h"

#include "emulator/base/error.h"
#include "emulator/base/whole_io.h"
#include "emulator/output/stale_outputs.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ovnitrace {

namespace {

/// Throws Error for a link to anything but a file, such as /dev/stdout: a pipe of the shell or a
/// device would be replaced by a file. Links to files are replaced, and so are pipes, which
/// somebody may have planted.
void refuse_link_to_no_file(const OutputPlace &place) {
  constexpr std::string_view kProc = "/proc/"; // as /dev/stdout is a link to /proc/self/fd/1
  char link[kProc.size()] = {};
  const ssize_t size = readlinkat(place.directory, place.name.c_str(), link, sizeof(link));
  struct stat status;
  const bool there = fstatat(place.directory, place.name.c_str(), &status, 0) == 0;
  if ((size > 0 && std::string_view(link, size_t(size)) == kProc) ||
      (there && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)))
    throw Error(place.path + " is no regular file: name one, which appears when it is complete");
}

std::string temporary_name(const std::string &path) {
  return temporary_prefix(path) + std::to_string(getpid());
}

/// Returns a path from which a descriptor can be linked.
std::string path_of(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

constexpr mode_t kMode = 0666; // before the umask
constexpr int kFlags = O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;

} // namespace

AtomicFile::AtomicFile(OutputPlace place, Named named) : place_(std::move(place)) {
  struct stat before = {}; // mode 0: nothing is there
  fstatat(place_.directory, place_.name.c_str(), &before, AT_SYMLINK_NOFOLLOW);
  if (S_ISLNK(before.st_mode))
    refuse_link_to_no_file(place_);
  if (S_ISDIR(before.st_mode))
    throw Error("cannot write " + place_.path + ": it is a directory; name a file with -o");
  if (S_ISCHR(before.st_mode) || S_ISBLK(before.st_mode)) {
    fd_ = openat(place_.directory, place_.name.c_str(), kFlags | O_NOFOLLOW);
  } else if (named == Named::yes || !open_unnamed()) {
    const std::string name = temporary_name(place_.name);
    remove_stale(place_.directory, temporary_prefix(place_.name));
    fd_ = openat(place_.directory, name.c_str(), kFlags | O_NOFOLLOW | O_CREAT | O_EXCL, kMode);
    temporary_ = name;
  }
  if (fd_ < 0)
    fail("create");
  if (!temporary_.empty())
    lock_output(fd_, place_.path);
  // Keeps the mode of our own file, which may be restricted, when it is written again.
  if (S_ISREG(before.st_mode) && before.st_uid == geteuid())
    fchmod(fd_, before.st_mode & 0777);
}

/// Opens a file without a name. Returns false if the file system has none, or if it could not be
/// named later.
bool AtomicFile::open_unnamed() {
  const size_t end = place_.name.rfind('/');
  const std::string directory = end == std::string::npos ? "." : place_.name.substr(0, end + 1);
  fd_ = openat(place_.directory, directory.c_str(), kFlags | O_TMPFILE, kMode);
  unnamed_ = fd_ >= 0 && access(path_of(fd_).c_str(), F_OK) == 0;
  if (fd_ >= 0 && !unnamed_)
    ::close(std::exchange(fd_, -1));
  return unnamed_;
}

/// Gives the file its name by renaming: a link cannot replace an existing file.
void AtomicFile::give_name() {
  const std::string name = temporary_name(place_.name);
  unlinkat(place_.directory, name.c_str(), 0);
  if (linkat(AT_FDCWD, path_of(fd_).c_str(), place_.directory, name.c_str(), AT_SYMLINK_FOLLOW) !=
      0)
    fail("name");
  temporary_ = name;
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0)
    ::close(fd_);
  if (!temporary_.empty())
    unlinkat(place_.directory, temporary_.c_str(), 0);
}

void AtomicFile::write(std::string_view bytes) {
  if (write_all(fd_, bytes) != bytes.size())
    fail("write");
}

void AtomicFile::rewrite(uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = pwrite(fd_, bytes.data(), bytes.size(), off_t(offset));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      fail("rewrite the header of");
    bytes.remove_prefix(size_t(written));
    offset += uint64_t(written);
  }
}

void AtomicFile::set_aside(uint64_t bytes) {
  const off_t end = lseek(fd_, 0, SEEK_CUR);
  if (end >= 0 && fallocate(fd_, FALLOC_FL_KEEP_SIZE, end, off_t(bytes)) == 0)
    set_aside_ = true;
}

void AtomicFile::commit() {
  if (set_aside_ && ftruncate(fd_, lseek(fd_, 0, SEEK_CUR)) != 0)
    fail("give back space of");
  if (unnamed_)
    give_name();
  int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) // network file systems report a failed write only here
    fail("write");
  if (temporary_.empty())
    return;
  if (renameat(place_.directory, temporary_.c_str(), place_.directory, place_.name.c_str()) != 0)
    fail("rename the finished file to");
  temporary_.clear();
}

void AtomicFile::fail(const char *doing) const {
  int error = errno;
  std::string advice = error == ENOSPC || error == EDQUOT
                           ? "free some space, or give -o DIR on another disk"
                           : "choose another place with -o";
  throw Error(std::string("cannot ") + doing + " " + place_.path + ": " + strerror(error) + "; " +
              advice);
}

void write_text_file(const OutputPlace &place, std::string_view text) {
  AtomicFile file(place);
  file.write(text);
  file.commit();
}

} // namespace ovnitrace
