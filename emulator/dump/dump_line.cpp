// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/dump/dump_line.h"

#include "emulator/base/number_text.h"
#include "emulator/format/details.h"
#include "emulator/format/event_names.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace ovnitrace {

namespace {

constexpr size_t kTimeWidth = 16;
constexpr size_t kCpuWidth = 4;
constexpr size_t kNameWidth = 19;   // task_wcet_violation
constexpr size_t kThreadWidth = 24; // 15 characters of comm and 7 digits, but for the rarest
constexpr size_t kMaxComm = 64;     // of another input than ours it may be longer
constexpr uint64_t kNsPerSecond = 1000000000;

char *put_text(char *at, std::string_view text) {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

char *put_left(char *at, std::string_view text, size_t width) {
  at = put_text(at, text);
  for (size_t i = text.size(); i < width; i++)
    *at++ = ' ';
  return at;
}

char *put_right(char *at, uint64_t number, size_t width) {
  for (size_t i = decimal_digits(number); i < width; i++)
    *at++ = ' ';
  return put_decimal(at, number);
}

/// Since the begin; what is before it has a minus.
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

/// Of an event of an ovni stream its three letters.
char *put_event(char *at, uint32_t kind) {
  return kind <= UINT8_MAX ? put_left(at, event_name(kind), kNameWidth)
                           : put_left(at, kind_name(kind), kNameWidth);
}

/// "0x7f001200"
char *put_address(char *at, uint32_t address) {
  at = put_text(at, "0x");
  int digits = 8;
  while (digits > 1 && address >> (4 * digits - 4) == 0)
    digits--;
  while (digits-- > 0)
    *at++ = "0123456789abcdef"[address >> (4 * digits) & 0xf];
  return at;
}

char *put_value(char *at, const Detail &detail) {
  if (!detail.text.empty())
    return put_text(at, detail.text);
  if (detail.unit == Unit::address)
    return put_address(at, uint32_t(detail.value));
  if (detail.value < 0)
    *at++ = '-';
  return put_decimal(at, detail.value < 0 ? 0 - uint64_t(detail.value) : uint64_t(detail.value));
}

} // namespace

DumpLine::DumpLine(const Catalog &catalog) : catalog_(catalog) {
  for (const ThreadInfo &thread : catalog.threads) {
    std::string text = thread.name.substr(0, kMaxComm) + " (" + std::to_string(thread.tid) + ")";
    text.resize(std::max(text.size(), kThreadWidth), ' ');
    threads_.push_back(std::move(text));
  }
}

char *DumpLine::put(char *at, const Event &event) const {
  at = put_seconds(at, event.time, catalog_.begin);
  *at++ = ' ';
  if (event.cpu < catalog_.cpus.size())
    at = put_right(at, catalog_.cpus[event.cpu].index, kCpuWidth);
  else
    at = put_text(at, "   -");
  at = put_event(put_text(at, "  "), event.kind);
  at = put_text(at, "  ");
  at = event.thread < threads_.size() ? put_text(at, threads_[event.thread])
                                      : put_left(at, "-", kThreadWidth);
  at = put_details(at, event);
  while (at[-1] == ' ')
    at--;
  *at++ = '\n';
  return at;
}

char *DumpLine::put_details(char *at, const Event &event) const {
  for (Detail detail : Details(event)) {
    if (detail.unit == Unit::peer_context) { // of a chunk; readers want the thread
      if (event.peer >= catalog_.threads.size())
        continue;
      detail.value = catalog_.threads[event.peer].tid;
    }
    *at++ = ' ';
    at = put_text(at, detail.name);
    *at++ = '=';
    at = put_value(at, detail);
  }
  return at;
}

} // namespace ovnitrace
