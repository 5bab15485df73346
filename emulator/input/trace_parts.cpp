// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/trace_parts.h"

#include "emulator/base/bounded_json.h"
#include "emulator/base/error.h"
#include "emulator/base/temporary_file.h"
#include "emulator/base/whole_io.h"
#include "emulator/format/trace_part.h"
#include "emulator/input/trace_dir.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

namespace ovnitrace {

namespace {

/// The bytes of a file that belong to the whole.
struct Stream {
  uint64_t from = 0, to = 0; ///< to 0: the end of the file
};

/// Returns the streams of a part by CPU. A part that was killed early has none.
std::map<uint16_t, Stream> streams_of(const std::string &part) {
  std::map<uint16_t, Stream> streams;
  nlohmann::json json;
  std::string why;
  const std::string name = part + "/" + kPartFile;
  if (!read_json_file(name, {8 << 20, 1 << 18, {}}, json, why))
    return streams;
  if (!json.is_object() || number_of(json, "version") != 1 || !json.contains("streams") ||
      !json["streams"].is_array())
    throw Error(name + ": no description of a part that this version can read");
  for (const nlohmann::json &stream : json["streams"])
    if (stream.is_object() && number_of(stream, "cpu") <= UINT16_MAX)
      streams[uint16_t(number_of(stream, "cpu"))] = {number_of(stream, "from"),
                                                     number_of(stream, "to")};
  return streams;
}

struct Joined {
  TemporaryFile file;
  Codec codec = Codec::none;
};

void copy(const ChunkInput &chunk, Stream stream, TemporaryFile &to) {
  const uint64_t end = stream.to ? std::min(stream.to, chunk.size) : chunk.size;
  std::vector<char> bytes(1 << 20);
  for (uint64_t at = stream.from; at < end;) {
    const size_t wanted = std::min<uint64_t>(bytes.size(), end - at);
    const size_t got = read_at(chunk.fd.get(), at, bytes.data(), wanted);
    if (got != wanted && errno)
      throw Error("cannot read {}: {}", chunk.name, strerror(errno));
    if (got == 0)
      return;
    to.append(bytes.data(), got);
    at += got;
  }
}

} // namespace

std::vector<std::string> trace_parts(const std::string &path) {
  std::vector<std::pair<unsigned long, std::string>> found;
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator(path, ignored)) {
    const std::string name = entry.path().filename().string();
    if (is_part_name(name) && !entry.is_symlink(ignored) && entry.is_directory(ignored))
      found.emplace_back(std::strtoul(name.c_str(), nullptr, 10), entry.path().string());
  }
  std::sort(found.begin(), found.end());
  auto first = found.end(); // of the newest ones without a gap
  while (first != found.begin() &&
         (first == found.end() || std::prev(first)->first + 1 == first->first))
    --first;
  std::vector<std::string> parts;
  for (auto at = first; at != found.end(); ++at)
    parts.push_back(std::move(at->second));
  return parts;
}

std::optional<std::set<uint16_t>> cpus_of_ended_part(const std::string &path) {
  std::set<uint16_t> cpus;
  for (const auto &[cpu, stream] : streams_of(path)) {
    if (!stream.to)
      return std::nullopt;
    cpus.insert(cpu);
  }
  return cpus.empty() ? std::nullopt : std::optional(cpus);
}

std::vector<ChunkInput> join_parts(const std::string &path, const std::vector<std::string> &parts) {
  std::map<uint16_t, Joined> joined;
  for (const std::string &part : parts) {
    std::map<uint16_t, Stream> streams = streams_of(part);
    for (const ChunkInput &chunk : open_chunks(part)) {
      Stream stream = streams[chunk.cpu];
      if (&part == &parts.front())
        stream.from = 0; // the states with which what is left begins
      const auto [at, is_first] = joined.try_emplace(chunk.cpu);
      Joined &to = at->second;
      if (is_first)
        to.codec = chunk.codec;
      if (to.codec != chunk.codec)
        throw Error("cannot read " + chunk.name +
                    ": in other parts the files of this CPU are compressed in another way");
      copy(chunk, stream, to.file);
    }
  }
  std::vector<ChunkInput> chunks;
  for (auto &[cpu, of] : joined) {
    const uint64_t size = of.file.size();
    if (size)
      chunks.push_back({.name = fmt::format("{} (CPU {} of all parts)", path, cpu),
                        .fd = of.file.release(),
                        .size = size,
                        .codec = of.codec,
                        .cpu = cpu});
  }
  return chunks;
}

} // namespace ovnitrace
