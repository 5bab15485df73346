// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/collected_trace.h"

#include "emulator/base/error.h"
#include "emulator/base/whole_io.h"
#include "emulator/input/trace_dir.h"
#include "emulator/input/trace_info.h"
#include "user/chunk/chunk_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ovnitrace {

namespace {

constexpr char kDescription[] = "trace.json";
constexpr char kUnfinished[] = ".trace.json.new"; // as TraceDirectory::put_in_place() has it

std::string chunk_file(uint16_t cpu, Codec codec) {
  return cpu == TraceSink::kPlainFile ? "trace.dat" : ChunkFiles::file_name(cpu, codec);
}

} // namespace

CollectedTrace::CollectedTrace(const std::string &directory, const std::string &name,
                               uint64_t most_bytes)
    : directory_(directory + "/" + name, IfExists::next_name), most_bytes_(most_bytes) {}

CollectedTrace::~CollectedTrace() {
  if (description_file_)
    unlinkat(directory_.fd(), kUnfinished, 0);
}

UniqueFd CollectedTrace::open_file(const std::string &name, int flags) {
  UniqueFd fd(openat(directory_.fd(), name.c_str(),
                     O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0644));
  if (!fd)
    fail(name);
  return fd;
}

void CollectedTrace::append(uint16_t cpu, Codec codec, std::string_view bytes) {
  if (failed_)
    throw Error("nothing more is written to {} after a failure", path());
  count(bytes.size());
  const std::string name = chunk_file(cpu, codec);
  const size_t written = write_all(open_file(name, O_APPEND).get(), bytes);
  bytes_ += written; // a reader leaves out half a record at the end
  if (written != bytes.size())
    fail(name);
}

void CollectedTrace::describe(std::string_view text) {
  if (!description_file_) {
    unlinkat(directory_.fd(), kUnfinished, 0);
    description_file_ = open_file(kUnfinished, O_EXCL);
  }
  count(text.size());
  description_ += text.size();
  if (description_ > 2 * kMaxDescriptionBytes) // two of them at most
    throw Error("the trace.json is too large");
  if (write_all(description_file_.get(), text) != text.size())
    fail(kDescription);
}

void CollectedTrace::end_description() {
  if (!description_file_)
    throw Error("the trace.json is empty");
  description_file_ = UniqueFd();
  directory_.put_in_place(kDescription);
}

void CollectedTrace::count(uint64_t bytes) {
  if (!most_bytes_ || bytes_ + description_ + bytes <= most_bytes_)
    return;
  failed_ = true;
  throw Error("the limit of {} bytes for one trace is reached (--max-size); {}", most_bytes_,
              kept());
}

void CollectedTrace::fail(const std::string &name) {
  const int error = errno;
  failed_ = true;
  throw Error("cannot write {}: {}; {}", name, std::strerror(error), kept());
}

/// Who receives for it discards a trace without records.
const char *CollectedTrace::kept() const {
  return bytes_ ? "what had been written before stays readable" : "nothing was kept";
}

} // namespace ovnitrace
