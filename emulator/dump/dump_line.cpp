// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/dump/dump_line.h"

#include "emulator/base/json_stream.h"
#include "emulator/base/number_text.h"
#include "emulator/format/details.h"
#include "emulator/format/event_names.h"
#include "emulator/input/call_name.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace ovnitrace {

namespace {

constexpr size_t kTimeWidth = 16;
constexpr size_t kCpuWidth = 4;
constexpr size_t kNameWidth = 19;   // task_wcet_violation
constexpr size_t kThreadWidth = 24; // 15 characters of comm and 7 digits, but for the rarest
constexpr uint64_t kNsPerSecond = 1000000000;

char *put_text(char *at, std::string_view text) {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

/// Adds blanks after what was written from `from` to `at`, up to `width`.
char *pad(const char *from, char *at, size_t width) {
  while (at < from + width)
    *at++ = ' ';
  return at;
}

char *put_right(char *at, uint64_t number, size_t width) {
  for (size_t i = decimal_digits(number); i < width; i++)
    *at++ = ' ';
  return put_decimal(at, number);
}

/// Writes seconds since the start; earlier times have a minus.
char *put_seconds(char *at, uint64_t time, uint64_t begin) {
  const uint64_t ns = time < begin ? begin - time : time - begin;
  const uint64_t whole = ns / kNsPerSecond;
  const bool minus = time < begin;
  for (size_t i = decimal_digits(whole) + minus; i < kTimeWidth - 10; i++)
    *at++ = ' ';
  if (minus)
    *at++ = '-';
  at = put_decimal(at, whole);
  *at++ = '.';
  const uint64_t fraction = ns % kNsPerSecond;
  for (uint32_t i = decimal_digits(fraction); i < 9; i++)
    *at++ = '0';
  return put_decimal(at, fraction);
}

/// Writes the name of an event. Events of ovni streams have three letters.
char *put_event(char *at, uint32_t kind) {
  return kind <= UINT8_MAX ? put_text(at, event_name(kind)) : put_text(at, kind_name(kind));
}

/// Returns the kernel's name of the idle state that a CPU enters; empty if it is not known.
std::string_view idle_state_of(const Event &event, const Catalog &catalog) {
  const uint32_t host = event.cpu < catalog.cpus.size() ? catalog.cpus[event.cpu].host : kNone;
  if (host >= catalog.hosts.size() || event.par2 >= catalog.hosts[host].idle_states.size())
    return {};
  return catalog.hosts[host].idle_states[event.par2];
}

/// Writes a priority as chrt and nice do: 1 to 99 for real time, 0 and a nice value for others.
/// JSON has the kernel's number too.
void put_priority(DetailWriter &out, std::string_view key, int64_t kernels) {
  constexpr int64_t kMostRealTime = 99, kNiceZero = 120;
  if (out.is_json())
    out.number(key, kernels);
  if (kernels < 0)
    return out.word(out.is_json() ? "class" : key, "deadline");
  if (kernels <= kMostRealTime)
    return out.number(out.is_json() ? "rt_priority" : key, kMostRealTime - kernels);
  if (!out.is_json())
    out.number(key, 0);
  out.number("nice", kernels - kNiceZero);
}

std::string mark_text_of(const Event &event, const Catalog &catalog, uint32_t number) {
  const uint32_t cpu = event.cpu < catalog.cpus.size() ? event.cpu : 0;
  return cpu < catalog.cpus.size() ? mark_text(catalog.hosts[catalog.cpus[cpu].host], number)
                                   : mark_text({}, number);
}

void put_details(DetailWriter &out, const Event &event, const Catalog &catalog) {
  for (const Detail &detail : Details(event)) {
    if (!detail.text.empty())
      out.word(detail.name, detail.text);
    else if (detail.unit == Unit::address || detail.unit == Unit::cpus)
      out.address(detail.name, uint32_t(detail.value));
    else if (detail.unit == Unit::priority)
      put_priority(out, detail.name, detail.value);
    else if (detail.unit == Unit::call)
      out.name(detail.name, call_name(catalog, event.thread, uint16_t(detail.value)));
    else if (detail.unit == Unit::mark)
      out.name(detail.name, mark_text_of(event, catalog, uint32_t(detail.value)));
    else if (detail.unit == Unit::peer) // without a sender, the kernel sent it
      out.thread(detail.name, event.peer, uint32_t(detail.value),
                 event.kind == FTrace_EVT_signal ? "kernel" : "idle");
    else if (detail.unit != Unit::peer_context)
      out.number(detail.name, detail.value);
    else if (event.peer <
             catalog.threads.size()) // for readers: the thread, not the context of a chunk
      out.thread(detail.name, event.peer, catalog.threads[event.peer].tid);
  }
  if (event.kind == FTrace_EXT_idle_start)
    if (const std::string_view name = idle_state_of(event, catalog); !name.empty())
      out.name("name", name);
}

} // namespace

DumpLine::DumpLine(const Catalog &catalog) : catalog_(catalog), threads_(catalog) {}

uint32_t DumpLine::host_of(const Event &event) const {
  return event.cpu < catalog_.cpus.size() ? catalog_.cpus[event.cpu].host : kNone;
}

char *DumpLine::put(char *at, const Event &event) const {
  at = put_seconds(at, event.time, catalog_.begin);
  *at++ = ' ';
  if (event.cpu < catalog_.cpus.size())
    at = put_right(at, catalog_.cpus[event.cpu].index, kCpuWidth);
  else
    at = put_text(at, "   -");
  at = put_text(at, "  ");
  at = pad(at, put_event(at, event.kind), kNameWidth);
  at = put_text(at, "  ");
  const std::string_view thread = threads_.word(event.thread);
  at = pad(at, put_text(at, thread.empty() ? "-" : thread), kThreadWidth);
  DetailWriter details(at, DetailWriter::Style::text, threads_, host_of(event), event.time);
  put_details(details, event, catalog_);
  at = details.end();
  while (at[-1] == ' ')
    at--;
  *at++ = '\n';
  return at;
}

char *DumpLine::put_json(char *at, const Event &event) const {
  at = put_decimal(put_text(at, "{\"schema\":"), kJsonSchema);
  at = put_text(at, ",\"time_ns\":");
  at = put_decimal(at, int64_t(event.time - catalog_.begin));
  at = put_text(at, ",\"cpu\":");
  at = event.cpu < catalog_.cpus.size() ? put_decimal(at, catalog_.cpus[event.cpu].index)
                                        : put_text(at, "null");
  at = put_text(at, ",\"event\":\"");
  char *const name = at;
  at = put_event(at, event.kind);
  std::replace_if(
      name, at, [](char c) { return c == '"' || c == '\\'; }, '?'); // of a stranger
  at = put_text(at, "\"");
  if (event.thread < catalog_.threads.size()) {
    at = put_decimal(put_text(at, ",\"tid\":"), catalog_.threads[event.thread].tid);
    at = put_decimal(put_text(at, ",\"pid\":"), catalog_.threads[event.thread].pid);
    at = put_text(put_text(at, ",\"name\":"), threads_.json_name(event.thread));
  }
  return put_text(put_json_details(put_text(at, ",\"details\":"), event), "}\n");
}

char *DumpLine::put_json_details(char *at, const Event &event) const {
  *at++ = '{';
  DetailWriter details(at, DetailWriter::Style::json, threads_, host_of(event), event.time);
  put_details(details, event, catalog_);
  return put_text(details.end(), "}");
}

} // namespace ovnitrace
