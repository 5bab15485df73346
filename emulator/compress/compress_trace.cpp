// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/compress/compress_trace.h"

#include "emulator/base/error.h"
#include "emulator/base/trace_lock.h"
#include "emulator/base/unique_fd.h"
#include "emulator/base/whole_io.h"
#include "emulator/format/chunk_frame.h"
#include "emulator/format/chunk_header.h"
#include "emulator/format/chunk_times.h"
#include "emulator/format/frame_reader.h"
#include "emulator/format/trace_part.h"
#include "emulator/input/trace_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

namespace ovnitrace {

namespace {

constexpr size_t kMostFrame = 4 << 20; ///< bytes of a chunk in one frame
constexpr size_t kBlock = 256 << 10;

[[noreturn]] void fail(const std::string &what, const std::string &why) {
  throw Error(what + ": " + why + "; the file was not changed");
}

/// Puts a new file in place of another one, complete or not at all.
class Replacement {
public:
  Replacement(int directory, const std::string &from, const std::string &to)
      : directory_(directory), from_(from), to_(to), temporary_("." + to + ".new"),
        source_(openat(directory, from.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) {
    struct stat status;
    if (!source_ || fstat(source_.get(), &status) != 0)
      fail("cannot read " + from, strerror(errno));
    if (!S_ISREG(status.st_mode))
      fail("cannot read " + from, "not a regular file");
    size_ = uint64_t(status.st_size);
    unlinkat(directory, temporary_.c_str(), 0);
    file_ = UniqueFd(openat(directory, temporary_.c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file_)
      fail("cannot write " + to, strerror(errno));
    // The new file gets the same owner if possible. Its mode is a permission, not a secret.
    if (fchown(file_.get(), status.st_uid, status.st_gid) == 0)
      fchmod(file_.get(), status.st_mode & 0777);
  }
  ~Replacement() {
    if (!temporary_.empty())
      unlinkat(directory_, temporary_.c_str(), 0);
  }

  int source() const { return source_.get(); }
  uint64_t size() const { return size_; }
  uint64_t written() const { return written_; }

  void write(const char *bytes, size_t size) {
    if (write_all(file_.get(), {bytes, size}) != size)
      fail("cannot write " + to_, strerror(errno));
    written_ += size;
  }

  /// Writes the file to disk before the other one is removed.
  void commit() {
    struct stat status;
    if (fstat(source_.get(), &status) != 0 || uint64_t(status.st_size) != size_)
      fail("cannot replace " + from_, "it is still being written");
    if (fsync(file_.get()) != 0 ||
        renameat(directory_, temporary_.c_str(), directory_, to_.c_str()) != 0)
      fail("cannot write " + to_, strerror(errno));
    temporary_.clear();
    if (unlinkat(directory_, from_.c_str(), 0) != 0)
      throw Error("cannot remove " + from_ + ": " + strerror(errno) + "; " + to_ + " is written");
  }

private:
  const int directory_;
  const std::string from_, to_;
  std::string temporary_;
  UniqueFd source_, file_;
  uint64_t size_ = 0, written_ = 0;
};

/// Returns where the first chunk of these bytes ends because another one starts; their size if none
/// does.
size_t chunk_end(const char *bytes, size_t size) {
  const auto code = [bytes](size_t at) {
    uint16_t code;
    std::memcpy(&code, bytes + at, sizeof code);
    return code;
  };
  for (size_t at = sizeof(ftrace_record); at + 2 * sizeof(ftrace_record) <= size;
       at += sizeof(ftrace_record))
    if (ChunkHeader::starts(code(at), code(at + sizeof(ftrace_record))))
      return at;
  return size;
}

void compress_file(Replacement &file, FrameCompressor &compressor) {
  std::vector<char> buffer(kMostFrame);
  size_t held = 0;
  for (uint64_t offset = 0; offset < file.size() || held > 0;) {
    const size_t wanted = size_t(std::min<uint64_t>(buffer.size() - held, file.size() - offset));
    if (read_at(file.source(), offset, buffer.data() + held, wanted) != wanted)
      fail("cannot compress a chunk file", errno ? strerror(errno) : "it became shorter");
    held += wanted;
    offset += wanted;
    const size_t chunk = chunk_end(buffer.data(), held);
    const auto *records = reinterpret_cast<const ftrace_record *>(buffer.data());
    const std::span<const char> frame =
        chunk % sizeof(ftrace_record)
            ? compressor.compress(buffer.data(), chunk)
            : compressor.compress_chunk({records, chunk / sizeof *records});
    file.write(frame.data(), frame.size());
    std::memmove(buffer.data(), buffer.data() + chunk, held - chunk);
    held -= chunk;
  }
}

void decompress_file(Replacement &file) {
  FrameReader frames(file.source(), file.size());
  TimeRestorer times;
  std::vector<ftrace_record> buffer(kBlock / sizeof(ftrace_record));
  char *const bytes = reinterpret_cast<char *>(buffer.data());
  size_t got;
  do { // the rest is not a whole record
    got = frames.read(bytes, kBlock);
    if (const std::string fault = frames.take_fault(); !fault.empty())
      fail("cannot decompress a chunk file", fault);
    times.restore(std::span(buffer).first(got / sizeof(ftrace_record)));
    file.write(bytes, got);
  } while (got == kBlock);
}

CompressResult replace_all(const std::string &path, Codec from, Codec to,
                           const std::function<void(Replacement &)> &convert) {
  const UniqueFd directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory)
    throw Error("cannot open the trace directory " + path + ": " + strerror(errno));
  if (!lock_trace(directory.get())) // a tracer would go on writing to files that we remove
    throw Error(path + " is being written by another ovnitrace; wait for its end");
  if (faccessat(directory.get(), kPartFile, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
    throw Error(path + " is a part of a rotated trace: its files are read together with those of "
                       "the other parts, and stay as they are");
  const std::vector<std::string> names = chunk_files(path, from);
  CompressResult result;
  result.left = unsigned(chunk_files(path, to).size());
  if (names.empty() && result.left == 0)
    throw Error(path + " is no trace: name the directory that ovnitrace wrote, with the chunk "
                       "files cpu0000.ftr, …");
  for (const std::string &name : names) {
    const std::string new_name = fmt::format("{}{}", plain_file_name(name), suffix_of(to));
    try {
      Replacement file(directory.get(), name, new_name);
      convert(file);
      file.commit();
      result.files++;
      result.bytes_before += file.size();
      result.bytes_after += file.written();
    } catch (const Error &error) {
      throw Error("{}/{}: {}", path, name, error.what());
    }
  }
  return result;
}

} // namespace

CompressResult compress_trace(const std::string &directory, int level) {
  FrameCompressor compressor(level);
  return replace_all(directory, Codec::none, Codec::zstd,
                     [&](Replacement &file) { compress_file(file, compressor); });
}

CompressResult decompress_trace(const std::string &directory) {
  return replace_all(directory, Codec::zstd, Codec::none, decompress_file);
}

} // namespace ovnitrace
