// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/ovni_export/stream_store.h"

#include "emulator/base/error.h"
#include "emulator/base/unique_fd.h"
#include "emulator/base/whole_io.h"
#include "emulator/ovni/stream_format.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace ovnitrace::ovni {

namespace {

/// Returns the stream.json that ovni's emulator (version 1.14) requires of a finished thread. Adds
/// the thread's name, creator and birth under the key "ovnitrace", which ovni ignores.
std::string format_stream_json(const StreamOwner &owner) {
  nlohmann::ordered_json ovni = {
      {"lib", {{"version", kLibraryVersion}, {"commit", "ovnitrace-" OVNITRACE_VERSION}}},
      {"part", "thread"},
      {"tid", owner.tid},
      {"pid", owner.pid},
      {"loom", owner.loom},
      {"app_id", owner.app_id},
      {"require", {{"ovni", kModelVersion}}},
      {"finished", 1},
  };
  for (size_t index = 0; index < owner.cpus.size(); ++index)
    ovni["loom_cpus"].push_back({{"index", index}, {"phyid", owner.cpus[index]}});
  const nlohmann::ordered_json root = {
      {"version", kMetadataVersion},
      {"ovni", ovni},
      {"ovnitrace", {{"name", owner.name}, {"parent", owner.parent}, {"birth", owner.birth}}},
  };
  // The name of a thread may be any bytes.
  return root.dump(1, '\t', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string stream_header() {
  std::string header(kStreamMagic);
  header.append(reinterpret_cast<const char *>(&kStreamVersion), sizeof kStreamVersion);
  return header;
}

} // namespace

uint32_t StreamStore::add(StreamOwner owner) {
  const std::string loom = "loom." + owner.loom;
  const std::string process = loom + "/proc." + std::to_string(owner.pid);
  const std::string place = process + "/thread." + std::to_string(owner.tid);
  for (const std::string &directory : {loom, process, place})
    make_directory(directory);
  streams_.push_back({std::move(owner), place, stream_header(), false});
  buffered_ += kStreamHeaderSize;
  return uint32_t(streams_.size() - 1);
}

void StreamStore::append(uint32_t number, std::string_view bytes) {
  Stream &stream = streams_[number];
  stream.buffer += bytes;
  buffered_ += bytes.size();
  if (stream.buffer.size() >= kStreamMost)
    flush(stream);
  else if (buffered_ >= kBuffered)
    flush_all();
}

void StreamStore::flush(Stream &stream) {
  if (stream.buffer.empty())
    return;
  write(stream.place + "/stream.obs", stream.buffer, stream.on_disk ? O_APPEND : O_CREAT | O_EXCL);
  stream.on_disk = true;
  buffered_ -= stream.buffer.size();
  std::string().swap(stream.buffer);
}

void StreamStore::flush_all() {
  for (Stream &stream : streams_)
    flush(stream);
}

void StreamStore::finish() {
  flush_all();
  for (const Stream &stream : streams_)
    write(stream.place + "/stream.json", format_stream_json(stream.owner), O_CREAT | O_EXCL);
  directory_.commit();
}

void StreamStore::write(const std::string &file, std::string_view bytes, int flags) {
  const UniqueFd out(
      openat(directory_.fd(), file.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0644));
  if (!out)
    fail("open", file);
  if (write_all(out.get(), bytes) != bytes.size())
    fail("write", file);
}

void StreamStore::make_directory(const std::string &below) {
  if (!directories_.insert(below).second)
    return;
  if (mkdirat(directory_.fd(), below.c_str(), 0755) != 0)
    fail("make the directory", below);
}

void StreamStore::fail(const std::string &doing, const std::string &what) const {
  throw Error("ovni trace " + directory_.path() + ": cannot " + doing + " " + what + ": " +
              std::strerror(errno));
}

} // namespace ovnitrace::ovni
