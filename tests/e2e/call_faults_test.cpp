// SPDX-License-Identifier: BSD-2-Clause
// Each system call of a short session fails once, for each command. Either nothing is different, or
// ovnitrace prints what failed and why, and every incomplete output says that it is incomplete.
// Runs a sample of the calls. With OVNITRACE_CASES it runs all of them and prints a table.
#include "tests/e2e/support/collector.h"
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/failing_calls.h"
#include "tests/e2e/support/strays.h"
#include "tests/support/sanitizer.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>
#include <random>

namespace fs = std::filesystem;

namespace ovnitrace::test {

namespace {

enum class Kind { offline, capture, collector };

struct Session {
  std::string name;
  std::vector<std::string> arguments;
  Kind kind = Kind::offline;
  int status = 0;
};

void PrintTo(const Session &session, std::ostream *out) {
  *out << session.name;
}

/// A program that writes one file at its start and one at its end, and exits with status 7.
std::vector<std::string> traced(const std::vector<std::string> &options, const char *work) {
  std::vector<std::string> arguments = options;
  arguments.insert(
      arguments.end(),
      {"--", "sh", "-c", std::string("touch began; ") + work + "; touch ended; exit 7"});
  return arguments;
}

constexpr int kProgramStatus = 7;
constexpr const char *kWork = "pingpong 30 >/dev/null";

Session capture(const std::string &name, const std::vector<std::string> &options,
                const char *work = kWork) {
  return {name, traced(options, work), Kind::capture, kProgramStatus};
}

const std::vector<Session> kSessions = {
    {"convert", {"convert", "trace", "-o", "out"}},
    {"convert_in_place", {"convert", "trace"}},
    {"convert_gzip", {"convert", "trace", "--gzip", "-o", "out"}},
    {"report", {"report", "trace", "-o", "out.html"}},
    {"export_ovni", {"export", "--to", "ovni", "trace", "-o", "out"}},
    {"export_perfetto", {"export", "--to", "perfetto", "trace", "-o", "out"}},
    {"export_sqlite", {"export", "--to", "sqlite", "trace", "-o", "out"}},
    {"export_csv", {"export", "--to", "csv", "trace", "-o", "out"}},
    {"export_folded", {"export", "--to", "folded", "trace", "-o", "out"}},
    {"export_pprof", {"export", "--to", "pprof", "trace", "-o", "out"}},
    {"export_speedscope", {"export", "--to", "speedscope", "trace", "-o", "out"}},
    {"info", {"info", "trace"}},
    {"info_json", {"info", "--json", "trace"}},
    {"why", {"why", "trace"}},
    {"why_json", {"why", "--json", "--critical-path", "trace"}},
    {"dump", {"dump", "trace"}},
    {"plot", {"plot", "trace"}},
    {"plot_svg", {"plot", "trace", "-o", "out.svg"}},
    {"compress", {"compress", "-l", "5", "plain"}},
    {"decompress", {"compress", "-d", "trace"}},
    {"ctl", {"ctl", "CAPTURE", "mark", "here"}},
    {"control_check", {"control", "--check", "start:enter_func:foo", "--", "regions"}},
    capture("record", {"record", "-o", "out"}),
    capture("record_plain", {"record", "--compress=0", "-o", "out"}),
    capture("one_step", {"-o", "out", "--report"}),
    capture("stat", {"stat"}),
    capture("record_all", {"record", "--filter", "all", "--stacks=wakeup,preempt", "-o", "out"}),
    capture("record_last", {"record", "-b", "last:64K", "-o", "out"}),
    capture("record_control",
            {"record", "--control", "start:enter_func:foo,stop:exit_func:foo", "-o", "out"},
            "regions foo bar > /dev/null"),
    capture("record_step", {"record", "--skip", "1000", "-o", "out"}, "true"),
    {"record_machine", {"record", "-a", "-d", "50ms", "-o", "out"}, Kind::capture},
    {"record_attached", {"record", "-p", "PID", "-d", "50ms", "-o", "out"}, Kind::capture},
    capture("send", {"record", "--send", "URL"}),
    {"collect", {"collect", "--listen", "tcp://127.0.0.1:0", "-o", "out"}, Kind::collector},
};

} // namespace

class CallFaults : public CaptureTest, public testing::WithParamInterface<Session> {
protected:
  void SetUp() override {
    if (kAddressSanitizer || kThreadSanitizer)
      GTEST_SKIP() << "a sanitizer must be the first that is loaded";
    CaptureTest::SetUp();
    if (IsSkipped())
      return;
    if (GetParam().kind == Kind::offline) {
      const std::vector<std::string> program = {installed("pingpong"), "20"};
      run(record_command(path("trace"), program, {"--filter", "all", "--stacks"}));
      run(record_command(path("plain"), program, {"--compress=0"}));
    }
    if (GetParam().name == "send")
      collector_.emplace("tcp", path("collected"));
    if (GetParam().name == "record_attached") {
      attached_.emplace(Command{.argv = {"sleep", "1000"}});
      eventually([&] { return !strays().empty(); }, "it has its mark since its exec");
    }
    if (GetParam().name == "ctl") {
      controlled_.emplace(record_command(path("controlled"), {"sleep", "1000"},
                                         {"--control", "start:interactive"}));
      const Command status = {.argv = {ovnitrace(), "ctl", path("controlled"), "status"}};
      eventually([&] { return run(status).status() == 0; }, "the capture listens");
    }
    running_ = strays().size();
  }

  std::string place() const { return path("run"); }
  std::string log() const { return path("calls"); }

  /// Runs the session in a fresh directory.
  Command command() {
    fs::remove_all(place());
    fs::remove(log());
    fs::create_directories(place() + "/tmp");
    for (const char *input : {"trace", "plain"})
      if (fs::exists(path(input)))
        fs::copy(path(input), place() + "/" + input, fs::copy_options::recursive);
    Command command;
    command.argv = {ovnitrace()};
    for (const std::string &argument : GetParam().arguments)
      command.argv.push_back(argument == "URL"       ? collector_->url()
                             : argument == "CAPTURE" ? path("controlled")
                             : argument == "PID"     ? std::to_string(attached_->pid())
                                                     : argument);
    const std::string programs = fs::path(installed("pingpong")).parent_path();
    installed("regions");
    command.env = {{"TMPDIR", place() + "/tmp"}, {"PATH", programs + ":" + getenv("PATH")}};
    command.cwd = place();
    return command;
  }

  /// Runs the session. A collector gets one trace, and then Ctrl-C.
  Outcome run_session(const Command &session) {
    if (GetParam().kind != Kind::collector)
      return run(session);
    Process collector(session);
    const std::string said = "listening on ";
    const auto first_line = [&] { return collector.err().find('\n') != std::string::npos; };
    eventually([&] { return first_line() || !collector.running(); }, "the collector listens");
    if (const std::string err = collector.err(); err.find(said) != std::string::npos) {
      const std::string line = lines_of(err.substr(err.find(said) + said.size())).at(0);
      run({.argv = {ovnitrace(), "record", "--send", line, "--", installed("pingpong"), "30"}});
    }
    collector.signal(SIGINT);
    return collector.wait();
  }

  /// Whether files differ each time, as those of a capture do.
  static bool is_capture() { return GetParam().kind != Kind::offline; }

  /// Returns the files that a session leaves: contents by path. The files of a capture differ each
  /// time, so only their paths are returned, without numbers. Their views for Paraver are left out:
  /// one is written only if its type has a value, such as who ran instead of a thread.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    for (const auto &entry : fs::recursive_directory_iterator(place())) {
      std::string name = fs::relative(entry.path(), place());
      if (is_capture() && name.ends_with(".cfg"))
        continue;
      if (is_capture())
        std::erase_if(name, [](char c) { return isdigit(c); });
      const bool read = !is_capture() && entry.is_regular_file();
      found[name] = read ? read_text(entry.path()) : "";
    }
    return found;
  }

  /// Returns the members of trace.json that have a value, with their contents, without numbers.
  std::set<std::string> known() const {
    std::set<std::string> members;
    const std::string file = place() + "/out/trace.json";
    if (!fs::exists(file))
      return members;
    const nlohmann::json flat = nlohmann::json::parse(read_text(file)).flatten();
    for (const auto &[key, value] : flat.items()) {
      std::string name = key;
      std::erase_if(name, [](char c) { return isdigit(c); });
      // In some runs only, a device wakes a thread, a thread ends, or code is in no file. Idle
      // states without a readable name are numbers. libbpf takes a failed call for a sign of an old
      // kernel, on which refills are not seen, and the trace says so.
      const bool may_be_absent = name.starts_with("/devices") ||
                                 name.starts_with("/threads//kernel_account") ||
                                 name == "/stack_frames//pid" || name.starts_with("/idle_states") ||
                                 name == "/sees_refills";
      if (!value.is_null() && value != "" && value != false && !may_be_absent)
        members.insert(name);
    }
    return members;
  }

  struct Clean {
    Outcome outcome;
    std::map<std::string, std::string> before, files; ///< as files()
    std::set<std::string> known;                      ///< whatever the time
  };

  static std::optional<std::string> content_in(const std::map<std::string, std::string> &files,
                                               const std::string &name) {
    const auto found = files.find(name);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  }

  /// Returns how the files of a run differ.
  std::string difference(const Clean &clean, const std::map<std::string, std::string> &left) const {
    std::string text;
    const std::set<std::string> now = known();
    for (const std::string &member : clean.known)
      text += now.contains(member) ? "" : ", without " + member;
    for (const auto &[name, content] : clean.files)
      text += left.contains(name) ? "" : ", without " + name;
    for (const auto &[name, content] : left)
      text += clean.files.contains(name) ? "" : ", with " + name;
    return text;
  }

  /// Returns what is wrong with a run in which a call failed; empty if nothing is wrong.
  std::string fault(const Clean &clean, const Outcome &outcome, const CallPoint &point, int error) {
    if (WIFSIGNALED(outcome.wait_status) || outcome.status() > 128)
      return "it crashed";
    if (exists(place() + "/began") && !exists(place() + "/ended"))
      return "it did not wait for the end of the program";
    if (!eventually([&] { return strays().size() == running_; }, "the end of all processes"))
      return "a process is left";
    const auto left = files();
    const bool capture = is_capture();
    const bool same_status = outcome.status() == clean.outcome.status();
    if (same_status && left == clean.files && (capture || outcome.out == clean.outcome.out) &&
        std::ranges::includes(known(), clean.known))
      return "";
    for (const auto &[name, content] : left)
      if (!clean.files.contains(name) &&
          (name.find("/.") != name.npos || name[0] == '.' || name.starts_with("tmp/")) &&
          outcome.err.find("cannot remove") == std::string::npos)
        return "it left " + name;
    if (error == kShortCount || (error == EINTR && point.kind != "connect"))
      return "a call that can be continued was not" + difference(clean, left);
    // SQLite and libbpf try other ways after a failed call, and then say how the last one ended.
    const bool own_words =
        outcome.err.find("cannot write the database") != std::string::npos ||
        outcome.err.find("cannot load the BPF programs") != std::string::npos ||
        outcome.err.find("cannot read the kernel's type information") != std::string::npos;
    if (!own_words && (outcome.out + outcome.err).find(strerror(error)) == std::string::npos)
      return same_status ? "a loss was not reported" + difference(clean, left)
                         : "the message does not say why";
    if (capture)
      return same_status || outcome.status() == 1 || outcome.status() == 3 ? ""
                                                                           : "the status is wrong";
    const bool input = point.kind == "open" || point.kind == "read" || point.kind == "pread" ||
                       point.kind == "mmap"; // what can be read is still converted
    for (const auto &[name, content] : left)
      if (!input && content != content_in(clean.files, name) &&
          content != content_in(clean.before, name))
        return name + " is incomplete";
    return "";
  }

  std::optional<CollectorProcess> collector_;
  std::optional<Process> controlled_, attached_;
  size_t running_ = 0; ///< processes, before the session
};

TEST_P(CallFaults, AreReportedOrMakeNoDifference) {
  const bool all = getenv("OVNITRACE_CASES");
  Clean clean;
  const Command session = command();
  clean.before = files();
  std::vector<CallPoint> points =
      count_calls(session, log(), clean.outcome,
                  [this](const Command &command) { return run_session(command); });
  ASSERT_EQ(clean.outcome.status(), GetParam().status) << clean.outcome.err;
  clean.files = files();
  clean.known = known();
  for (int n = 0; n < 3 && !clean.known.empty(); n++) { // some depend on when threads run
    run_session(command());
    std::erase_if(clean.known,
                  [now = known()](const auto &member) { return !now.contains(member); });
  }
  if (!all) {
    const size_t sample = is_capture() ? 6 : 15;
    std::shuffle(points.begin(), points.end(), std::mt19937(1));
    points.resize(std::min(points.size(), sample));
  }
  std::map<std::string, std::array<size_t, 3>> table;
  for (const CallPoint &point : points)
    for (const int error : errors_of(point)) {
      const std::string kind = point.kind + " " + name_of_error(error);
      Outcome outcome;
      std::string what;
      // Which members trace.json has depends on when threads run. A fault that a failed call causes
      // is there the second time, too.
      for (int tries = is_capture() ? 2 : 1; tries; tries = what.empty() ? 0 : tries - 1) {
        outcome = run_session(with_failure(command(), log(), point, error));
        what = has_failed(log()) ? fault(clean, outcome, point, error) : "";
      }
      if (!has_failed(log()))
        continue; // it is one that depends on time
      table[kind][what.empty()]++;
      EXPECT_EQ(what, "") << kind << " " << point.nth << " " << point.file << "\nstatus "
                          << outcome.status() << "\n"
                          << outcome.err << read_text(log());
    }
  for (const auto &[kind, counts] : table)
    std::cout << "TABLE " << GetParam().name << " " << kind << " " << counts[0] + counts[1]
              << " tried, " << counts[1] << " right\n";
}

INSTANTIATE_TEST_SUITE_P(Commands, CallFaults, testing::ValuesIn(kSessions),
                         [](const auto &info) { return info.param.name; });

} // namespace ovnitrace::test
