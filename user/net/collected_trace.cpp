// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/collected_trace.h"

#include "emulator/base/error.h"
#include "emulator/input/trace_dir.h"
#include "user/chunk/chunk_files.h"

#include <ovnitrace/ftrace_record.h>

#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>
#include <cstring>

namespace ovnitrace {

namespace {

constexpr uint64_t kMostDescription = kMaxDescriptionBytes;
constexpr char kDescription[] = "trace.json";
constexpr char kUnfinished[] = ".trace.json.new"; // as TraceDirectory::put_in_place() has it

} // namespace

CollectedTrace::CollectedTrace(const std::string &directory, const std::string &name,
                               uint64_t most_bytes, unsigned most_open)
    : directory_(directory + "/" + name, IfExists::next_name), most_bytes_(most_bytes),
      most_open_(most_open) {}

std::string CollectedTrace::file_name(FileKey key) {
  return key.first == kPlainFile ? "trace.dat" : ChunkFiles::file_name(key.first, key.second);
}

CollectedTrace::File &CollectedTrace::opened(FileKey key) {
  const auto [at, fresh] = files_.try_emplace(key);
  File &file = at->second;
  if (file.fd)
    return file;
  if (open_files_ >= most_open_) {
    for (auto &[other, its] : files_)
      its.fd = UniqueFd();
    open_files_ = 0;
  }
  file.fd =
      UniqueFd(openat(directory_.fd(), file_name(key).c_str(),
                      O_WRONLY | O_NOFOLLOW | O_CLOEXEC | (fresh ? O_CREAT | O_EXCL : 0), 0644));
  if (!file.fd)
    fail(file_name(key), errno);
  open_files_++;
  return file;
}

void CollectedTrace::append(uint16_t cpu, bool compressed, std::string_view bytes) {
  if (failed_)
    throw Error(fmt::format("nothing more is written to {} after a failure", path()));
  count(bytes.size());
  const FileKey key(cpu, compressed);
  File &file = opened(key);
  write(file, file.size, bytes, file_name(key));
  file.size += bytes.size();
  bytes_ += bytes.size();
}

void CollectedTrace::overwrite(uint16_t cpu, uint64_t offset, std::string_view bytes) {
  const FileKey key(cpu, false);
  if (!failed_)
    write(opened(key), offset, bytes, file_name(key));
}

/// After a failure the file is cut back to whole records; they count as taken.
void CollectedTrace::write(const File &file, uint64_t offset, std::string_view bytes,
                           const std::string &name) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(file.fd.get(), bytes.data(), bytes.size(), off_t(offset));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0) {
      const int error = written < 0 ? errno : ENOSPC;
      const uint64_t whole = offset & ~uint64_t(sizeof(ftrace_record) - 1);
      if (offset > file.size && ftruncate(file.fd.get(), off_t(whole)) != 0)
        fail(name, errno);
      if (whole > file.size)
        bytes_ += whole - file.size;
      fail(name, error);
    }
    bytes.remove_prefix(size_t(written));
    offset += uint64_t(written);
  }
}

void CollectedTrace::describe(std::string_view text) {
  if (!description_file_) {
    unlinkat(directory_.fd(), kUnfinished, 0);
    description_file_ = UniqueFd(openat(
        directory_.fd(), kUnfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!description_file_)
      fail(kDescription, errno);
  }
  count(text.size());
  description_ += text.size();
  if (description_ > 2 * kMostDescription) // two of them at most
    throw Error("more than a trace.json can be");
  while (!text.empty()) {
    const ssize_t written = ::write(description_file_.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      fail(kDescription, written < 0 ? errno : ENOSPC);
    text.remove_prefix(size_t(written));
  }
}

void CollectedTrace::end_description() {
  if (!description_file_)
    throw Error("an empty trace.json");
  description_file_ = UniqueFd();
  directory_.put_in_place(kDescription);
}

void CollectedTrace::count(uint64_t bytes) {
  if (!most_bytes_ || bytes_ + description_ + bytes <= most_bytes_)
    return;
  failed_ = true;
  throw Error(fmt::format("the limit of {} bytes for one trace is reached (--max-size); {}",
                          most_bytes_, kept()));
}

void CollectedTrace::fail(const std::string &name, int error) {
  failed_ = true;
  throw Error(fmt::format("cannot write {}: {}; {}", name, std::strerror(error), kept()));
}

/// Who receives for it discards a trace without records.
const char *CollectedTrace::kept() const {
  return bytes_ ? "what had been written before stays readable" : "nothing was kept";
}

} // namespace ovnitrace
