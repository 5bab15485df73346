// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace collect` while a test sends to it.
#pragma once

#include "tests/e2e/support/process.h"

#include <ovnitrace/ftrace_record.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace::test {

class CollectorProcess {
public:
  /// Listens on a free port of the loopback and writes into `directory`.
  CollectorProcess(const std::string &transport, const std::string &directory,
                   const std::vector<std::string> &options = {},
                   std::function<void()> in_child = {});

  const std::string &url() const { return url_; } ///< for --send
  Process &process() { return *process_; }
  const std::string &directory() const { return directory_; }
  /// The directories of all traces, sorted.
  std::vector<std::string> traces() const;
  /// Ends the collector as Ctrl-C does. Returns what it printed and how it ended.
  Outcome stop();

private:
  std::string directory_;
  std::optional<Process> process_;
  std::string url_;
};

/// The records of the chunk files of a trace, by file name.
std::map<std::string, std::vector<ftrace_record>> records_in(const std::string &trace);
uint64_t count_records(const std::string &trace);

} // namespace ovnitrace::test
