// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/command_lines.h"

#include "emulator/base/living_processes.h"
#include "emulator/base/messages.h"
#include "emulator/base/printable.h"
#include "emulator/base/unique_fd.h"
#include "user/bpf/preflight.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

namespace ovnitrace {

namespace {

std::string arguments_of(uint32_t pid) {
  const UniqueFd file(open(fmt::format("/proc/{}/cmdline", pid).c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(CAPTURE_CMDLINE_LONG + 1, 0);
  const ssize_t bytes = file ? read(file.get(), text.data(), text.size()) : 0;
  text.resize(size_t(std::max<ssize_t>(bytes, 0)));
  return text;
}

} // namespace

void CommandLines::take(const void *message, size_t bytes) {
  if (bytes < sizeof(cmdline_record))
    return;
  const auto *record = static_cast<const cmdline_record *>(message);
  const size_t room = bytes - sizeof(cmdline_record);
  add(record->pid, record->time, {record->text, std::min<size_t>(record->bytes, room)},
      record->bytes > room);
}

void CommandLines::add(uint32_t pid, uint64_t since_ns, std::string_view arguments, bool cut) {
  std::string text(arguments);
  while (!text.empty() && text.back() == 0)
    text.pop_back();
  if (text.empty())
    return;
  std::replace(text.begin(), text.end(), char(0), ' ');
  text = printable_line(text) + (cut ? "…" : "");
  const size_t bytes = sizeof(CommandLine) + text.size();
  if (bytes_ + bytes > kMostBytes) {
    left_out_++;
    return;
  }
  bytes_ += bytes;
  all_.push_back({pid, since_ns, std::move(text)});
}

std::string CommandLines::last_program(uint32_t pid) const {
  std::string last;
  for (const CommandLine &line : all_)
    if (line.pid == pid)
      last = line.text.substr(0, line.text.find(' '));
  return last;
}

void shorten(std::vector<std::string> &arguments) {
  size_t left = CAPTURE_CMDLINE_LONG;
  for (size_t n = 0; n < arguments.size(); n++) {
    std::string &argument = arguments[n];
    if (left > 0 && argument.size() <= left) {
      left -= std::min(left, argument.size() + 1);
      continue;
    }
    while (left > 0 && (uint8_t(argument[left]) & 0xc0) == 0x80) // inside a character
      left--;
    argument.resize(left);
    argument += "…";
    arguments.resize(n + 1);
  }
}

void add_living(CommandLines &lines) {
  if (!in_initial_pid_namespace())
    return;
  std::error_code error;
  for (const uint32_t pid : living_processes(error)) {
    const std::string text = arguments_of(pid);
    const bool cut = text.size() > CAPTURE_CMDLINE_LONG;
    lines.add(pid, 0, std::string_view(text).substr(0, CAPTURE_CMDLINE_LONG), cut);
  }
  if (error)
    print("warning: the trace lacks command lines of processes that began before the capture: "
          "cannot read /proc: {}",
          error.message());
}

} // namespace ovnitrace
