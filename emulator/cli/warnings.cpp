// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/warnings.h"

#include "emulator/base/messages.h"
#include "emulator/format/codec.h"

namespace ovnitrace {

namespace {

/// Returns a time as `ovnitrace dump` prints and --from takes it.
std::string at(std::optional<uint64_t> time) {
  constexpr uint64_t kNsPerSecond = 1'000'000'000;
  return time ? fmt::format(", at {}.{:09}s", *time / kNsPerSecond, *time % kNsPerSecond) : "";
}

} // namespace

void Warnings::report(const Diagnostic &diagnostic) {
  const uint64_t count = 1 + diagnostic.more;
  reported_ += count;
  if (!diagnostic.harmless)
    damage_ += count;
  if (printed_ == limit_)
    return;
  printed_++;
  if (diagnostic.file.empty())
    print("warning: {}", diagnostic.what);
  else if (diagnostic.harmless)
    print("warning: {}: {}", diagnostic.file, diagnostic.what);
  else
    print("warning: {}, byte {}{}{}: {}", diagnostic.file, diagnostic.offset,
          codec_of(diagnostic.file) != Codec::none ? " uncompressed" : "", at(diagnostic.time),
          diagnostic.what);
}

void Warnings::finish() const {
  if (reported_ > printed_)
    print("warning: and {} more like these", reported_ - printed_);
}

} // namespace ovnitrace
