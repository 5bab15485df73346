// SPDX-License-Identifier: BSD-2-Clause
#include "tests/e2e/support/collector.h"

#include "tests/e2e/support/e2e.h"

#include <csignal>
#include <cstring>

namespace ovnitrace::test {

CollectorProcess::CollectorProcess(const std::string &transport, const std::string &directory,
                                   const std::vector<std::string> &options,
                                   std::function<void()> in_child)
    : directory_(directory) {
  Command command;
  command.argv = {ovnitrace(), "collect", "--listen", transport + "://127.0.0.1:0",
                  "-o",        directory};
  command.argv.insert(command.argv.end(), options.begin(), options.end());
  command.in_child = std::move(in_child);
  process_.emplace(command);
  const std::string said = "listening on ";
  eventually([&] { return process_->err().find('\n') != std::string::npos; },
             "the collector listens");
  const std::string first = lines_of(process_->err()).at(0);
  EXPECT_NE(first.find(said + transport), std::string::npos) << first;
  url_ = first.substr(first.find(said) + said.size());
}

std::vector<std::string> CollectorProcess::traces() const {
  std::vector<std::string> traces;
  for (const std::string &name : names_in(directory_))
    traces.push_back(directory_ + "/" + name);
  return traces;
}

Outcome CollectorProcess::stop() {
  process_->signal(SIGINT);
  return process_->wait();
}

std::map<std::string, std::vector<ftrace_record>> records_in(const std::string &trace) {
  std::map<std::string, std::vector<ftrace_record>> files;
  for (const std::string &name : names_in(trace)) {
    if (!name.starts_with("cpu") || !name.ends_with(".ftr"))
      continue;
    const std::string bytes = read_text(trace + "/" + name);
    EXPECT_EQ(bytes.size() % sizeof(ftrace_record), 0u) << name;
    files[name].resize(bytes.size() / sizeof(ftrace_record));
    memcpy(files[name].data(), bytes.data(), files[name].size() * sizeof(ftrace_record));
  }
  return files;
}

uint64_t count_records(const std::string &trace) {
  uint64_t count = 0;
  for (const auto &[name, records] : records_in(trace))
    count += records.size();
  return count;
}

} // namespace ovnitrace::test
