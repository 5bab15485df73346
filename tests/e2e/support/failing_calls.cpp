// SPDX-License-Identifier: BSD-2-Clause
#include "tests/e2e/support/failing_calls.h"

#include "tests/e2e/support/e2e.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <sstream>

namespace ovnitrace::test {

namespace {

Command loaded(Command command, const std::string &log) {
  command.env["LD_PRELOAD"] = installed("failing_calls.so");
  command.env["FAILING_CALLS"] = log;
  return command;
}

} // namespace

std::vector<CallPoint> count_calls(Command command, const std::string &log, Outcome &clean,
                                   const std::function<Outcome(const Command &)> &run) {
  clean = run(loaded(std::move(command), log));
  std::map<CallPoint, unsigned> counts;
  std::string word;
  CallPoint point;
  for (std::istringstream calls(read_text(log));
       calls >> word >> point.kind >> point.site >> point.nth >> point.file;) {
    point.nth = 0;
    counts[point]++;
  }
  std::vector<CallPoint> points;
  for (const auto &[first, count] : counts)
    for (const unsigned nth : std::set<unsigned>{0, std::min(1U, count - 1), count / 2, count - 1})
      points.push_back({first.kind, first.site, nth, first.file});
  return points;
}

Command with_failure(Command command, const std::string &log, const CallPoint &point, int error) {
  command = loaded(std::move(command), log);
  command.env["FAIL_CALL"] =
      point.kind + " " + point.site + " " + std::to_string(point.nth) + " " + std::to_string(error);
  return command;
}

bool has_failed(const std::string &log) {
  return read_text(log).starts_with("failed");
}

std::vector<int> errors_of(const CallPoint &point) {
  const bool regular = point.file == 'r', stream = point.file == 's';
  const bool out = point.kind == "write" || point.kind == "pwrite" || point.kind == "send";
  std::vector<int> errors;
  if (out || point.kind == "read" || point.kind == "pread" || point.kind == "recv") {
    if (out || !regular) // a read of a file is not interrupted
      errors.push_back(EINTR);
    if (regular || stream) {
      errors.push_back(EIO);
      errors.push_back(kShortCount);
    }
    if (regular && out)
      errors.push_back(ENOSPC);
    return errors;
  }
  static const std::map<std::string, std::vector<int>> kErrors = {
      {"close", {EIO}},   {"fsync", {EIO}},     {"rename", {ENOSPC}},
      {"open", {EIO}},    {"create", {ENOSPC}}, {"ftruncate", {EIO}},
      {"mmap", {ENOMEM}}, {"socket", {ENOMEM}}, {"connect", {EINTR, ENOMEM}},
      {"bpf", {ENOMEM}},  {"ptrace", {EPERM}},  {"perf_event_open", {ENOMEM}},
  };
  return kErrors.at(point.kind);
}

std::string name_of_error(int error) {
  return error == kShortCount ? "short" : strerrorname_np(error);
}

} // namespace ovnitrace::test
