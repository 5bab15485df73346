// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/trace_time.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "emulator/cli/time_option.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <optional>
#include <string_view>

namespace ovnitrace {

namespace {

constexpr int64_t kNs = 1'000'000'000;

/// Parses seconds with decimals. Returns false for anything else.
bool parse_seconds(std::string_view text, uint64_t most, uint64_t &ns) {
  uint64_t whole = 0;
  const char *const end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, whole);
  if (error != std::errc() || whole > most)
    return false;
  ns = whole * uint64_t(kNs);
  if (at == end)
    return true;
  if (*at++ != '.' || at == end)
    return false;
  for (uint64_t unit = kNs / 10; at != end; at++, unit /= 10) {
    if (*at < '0' || *at > '9')
      return false;
    ns += uint64_t(*at - '0') * unit;
  }
  return true;
}

/// Parses HH:MM or HH:MM:SS with decimals.
bool parse_time_of_day(std::string_view text, uint64_t &ns) {
  const size_t first = text.find(':'), second = text.find(':', first + 1);
  uint64_t hours = 0, minutes = 0, seconds = 0;
  if (first == text.npos || text.find('.') < std::min(second, text.size()))
    return false;
  const size_t after = second == text.npos ? text.size() : second;
  if (!parse_seconds(text.substr(0, first), 23, hours) ||
      !parse_seconds(text.substr(first + 1, after - first - 1), 59, minutes) ||
      (second != text.npos && !parse_seconds(text.substr(second + 1), 59, seconds)))
    return false;
  ns = (hours * 60 + minutes) * 60 + seconds;
  return true;
}

/// Returns the instant at which the local clock shows `ns` since midnight, `days` after the day of
/// `begin`.
int64_t on_day(uint64_t ns, int64_t begin, int days) {
  tm day = local_time(time_t(begin / kNs));
  day.tm_mday += days;
  day.tm_hour = int(ns / (3600 * uint64_t(kNs)));
  day.tm_min = int(ns / (60 * uint64_t(kNs)) % 60);
  day.tm_sec = int(ns / uint64_t(kNs) % 60);
  day.tm_isdst = -1;
  return int64_t(std::mktime(&day)) * kNs + int64_t(ns % uint64_t(kNs));
}

std::string clock_text(int64_t wall) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03}", local_time(time_t(wall / kNs)),
                     wall % kNs / 1'000'000);
}

/// Returns the time of the first mark with this text.
std::optional<uint64_t> find_mark(const Catalog &catalog, std::string_view text) {
  for (const HostInfo &host : catalog.hosts)
    for (const CaptureMark &mark : host.marks)
      if (mark.text == text)
        return mark.time_ns;
  return {};
}

} // namespace

bool parse_trace_time(const std::string &text, TraceTime &time) {
  time = {.text = text};
  if (parse_time(text, time.ns))
    time.kind = TraceTime::Kind::since_start;
  else if (text.starts_with('@') &&
           parse_seconds(std::string_view(text).substr(1), 9'000'000'000, time.ns))
    time.kind = TraceTime::Kind::of_epoch;
  else if (text.starts_with(kMarkPrefix) && text.size() > kMarkPrefix.size())
    time.kind = TraceTime::Kind::of_mark;
  else if (parse_time_of_day(text, time.ns))
    time.kind = TraceTime::Kind::of_day;
  return time.kind != TraceTime::Kind::not_given;
}

uint64_t since_start(const TraceTime &time, const char *option, const WallRange &trace) {
  if (!time.is_wall())
    return time.ns;
  int64_t wall = int64_t(time.ns);
  if (time.kind == TraceTime::Kind::of_day) {
    wall = on_day(time.ns, trace.begin, 0);
    if (const int64_t next = on_day(time.ns, trace.begin, 1);
        wall < trace.begin && next <= trace.end)
      wall = next;
  }
  if (wall >= trace.begin)
    return uint64_t(wall - trace.begin);
  const std::string what = fmt::format("{} {} is before the trace, which is from {} to {}", option,
                                       time.text, clock_text(trace.begin), clock_text(trace.end));
  if (std::string_view(option) != "--from")
    throw Error(what);
  print("warning: {}", what);
  return 0;
}

uint64_t mark_time(const Catalog &catalog, const std::string &text, const std::string &path) {
  if (const std::optional<uint64_t> at = find_mark(catalog, text))
    return *at;
  const size_t sign = text.find_last_of("+-");
  uint64_t ns = 0;
  if (sign != text.npos && parse_time(text.substr(sign + 1), ns))
    if (const std::optional<uint64_t> at = find_mark(catalog, text.substr(0, sign)))
      return text[sign] == '+' ? *at + ns : *at - std::min(*at, ns);
  throw Error(path + " has no mark '" + text + "': `ovnitrace info` lists its marks");
}

} // namespace ovnitrace
