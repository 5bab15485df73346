// SPDX-License-Identifier: BSD-2-Clause
#include "user/chunk/buffer_kind.h"

#include "emulator/base/error.h"

#include <cctype>
#include <charconv>
#include <limits>
#include <string_view>

namespace ovnitrace {

namespace {

constexpr std::string_view kUnits = "KMGT";

} // namespace

uint64_t parse_size(const std::string &option, const std::string &text) {
  uint64_t number = 0;
  const char *end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, number);
  std::string_view unit(at, size_t(end - at));
  size_t power =
      unit.empty() ? 0 : kUnits.find(char(std::toupper(static_cast<unsigned char>(unit[0])))) + 1;
  if (error != std::errc() || unit.size() > 1 || (!unit.empty() && power == 0))
    throw UsageError("{}: {} is no size; give one like 512K, 64M or 2G", option, text);
  if (number > std::numeric_limits<uint64_t>::max() >> 10 * power)
    throw UsageError("{}: {} is more than any machine has", option, text);
  return number << 10 * power;
}

BufferKind parse_buffer_kind(const std::string &text) {
  size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const bool last = kind == "last" || kind == "cyc";
  if ((kind == "disk" || kind == "jtn") && colon == std::string::npos)
    return {};
  if ((!last && kind != "stop") || colon == std::string::npos)
    throw UsageError("--buffer {}: give disk (all to disk), last:SIZE (a flight recorder of the "
                     "last SIZE of each CPU) or stop:SIZE (tracing stops when SIZE is recorded)",
                     text);
  uint64_t bytes = parse_size("--buffer", text.substr(colon + 1));
  if (bytes == 0)
    throw UsageError("--buffer {}: a buffer of no size keeps nothing", text);
  return {last ? BufferKind::kCyc : BufferKind::kStop, bytes};
}

} // namespace ovnitrace
