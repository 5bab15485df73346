// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/make_target.h"

#include "user/chunk/directory_target.h"
#include "user/chunk/rotating_target.h"
#include "user/launch/signals.h"
#include "user/net/tcp_target.h"

#include <fmt/core.h>
#include <unistd.h>

#include <functional>
#include <string>

namespace ovnitrace {

namespace {

/// Makes a sender. `check` is called while a collector is being connected to.
std::unique_ptr<TraceTarget> make_sender(const RecordOptions &options, const std::string &name,
                                         const std::function<void()> &check) {
  const Endpoint collector = parse_endpoint("--send", options.send);
  std::optional<PresharedKey> key;
  if (!options.key_file.empty())
    key = read_key(options.key_file);
  return std::make_unique<TcpTarget>(collector, key, name, options.compress_level, check);
}

} // namespace

std::unique_ptr<TraceTarget> make_target(const RecordOptions &options, const std::string &traced,
                                         uint32_t cpus) {
  if (!options.send.empty())
    return make_sender(options, default_trace_name(traced), end_if_signalled);
  const std::string path =
      options.directory.empty() ? default_trace_name(traced) : options.directory;
  const IfExists if_exists = options.directory.empty() ? IfExists::next_name
                             : options.force           ? IfExists::overwrite
                                                       : IfExists::refuse;
  if (options.rotation.wanted())
    return std::make_unique<RotatingTarget>(path, if_exists, cpus, options.compress_level,
                                            options.rotation);
  return std::make_unique<DirectoryTarget>(path, if_exists, cpus, options.compress_level);
}

std::unique_ptr<TraceTarget> make_save_target(const RecordOptions &options,
                                              const std::string &traced, uint32_t cpus,
                                              const TraceTarget &whole, unsigned &saves) {
  if (!options.send.empty())
    return make_sender(options, fmt::format("{}.{}", default_trace_name(traced), ++saves), {});
  if (options.live) // its own directory is not kept
    return std::make_unique<DirectoryTarget>(default_trace_name(traced), IfExists::next_name, cpus,
                                             options.compress_level);
  std::string path;
  do
    path = fmt::format("{}.{}", whole.place(), ++saves);
  while (!options.force && access(path.c_str(), F_OK) == 0);
  return std::make_unique<DirectoryTarget>(
      path, options.force ? IfExists::overwrite : IfExists::refuse, cpus, options.compress_level);
}

} // namespace ovnitrace
