// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/repeated_capture.h"

#include "emulator/base/error.h"
#include "emulator/base/identity.h"
#include "emulator/base/messages.h"
#include "emulator/base/unique_fd.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

namespace ovnitrace {

namespace {

constexpr std::array kSignals = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

volatile pid_t child = 0;              // gets signals that only we got
volatile sig_atomic_t last_signal = 0; // that we got

/// Passes a signal on to the child. A typed key already signals the child, too.
void pass_on(int signal, siginfo_t *info, void *) {
  last_signal = signal;
  if (info->si_code != SI_KERNEL && child > 0)
    kill(child, signal);
}

/// Passes signals on while it lives.
class PassedSignals {
public:
  PassedSignals() {
    struct sigaction action = {};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (size_t n = 0; n < kSignals.size(); n++) {
      sigaction(kSignals[n], nullptr, &before_[n]);
      if (before_[n].sa_handler != SIG_IGN)
        sigaction(kSignals[n], &action, nullptr);
    }
  }
  ~PassedSignals() { restore(); }
  PassedSignals(const PassedSignals &) = delete;
  PassedSignals &operator=(const PassedSignals &) = delete;

  void restore() const {
    for (size_t n = 0; n < kSignals.size(); n++)
      sigaction(kSignals[n], &before_[n], nullptr);
  }

private:
  std::array<struct sigaction, kSignals.size()> before_ = {};
};

/// Runs in the child. Writes the result into a pipe.
[[noreturn]] void run_child(const RecordOptions &options, const RunCapture &capture, int pipe) {
  nlohmann::json result;
  try {
    const RecordResult recorded = capture(options);
    result = {{"status", recorded.exit_status}, {"missing", recorded.missing}};
  } catch (const Error &error) {
    result = {{"status", error.status()}, {"error", error.what()}};
  } catch (const std::exception &error) {
    result = {{"status", kExitFailure}, {"error", error.what()}};
  }
  const std::string text = result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  _exit(write(pipe, text.data(), text.size()) == ssize_t(text.size()) ? 0 : kExitFailure);
}

std::string read_all(int pipe) {
  std::string text;
  char part[4096];
  for (ssize_t got; (got = read(pipe, part, sizeof part)) != 0;)
    if (got > 0)
      text.append(part, size_t(got));
    else if (errno != EINTR)
      break;
  return text;
}

} // namespace

RepeatedResult record_apart(const RecordOptions &options, const RunCapture &capture) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Error("cannot make a pipe: {}", std::strerror(errno));
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  const PassedSignals signals;
  child = fork();
  if (child == 0) {
    signals.restore();
    run_child(options, capture, to.get());
  }
  if (child < 0)
    throw Error("cannot start a process: {}", std::strerror(errno));
  to = UniqueFd();
  const std::string text = read_all(from.get());
  int status = 0;
  TEMP_FAILURE_RETRY(waitpid(child, &status, 0));
  child = 0;
  if (last_signal)
    throw Error(fmt::format("ended by signal {}", int(last_signal)),
                Error::Status{128 + last_signal});
  const nlohmann::json result = nlohmann::json::parse(text, nullptr, false);
  if (!result.is_object())
    throw Error("the process that recorded has died");
  if (result.contains("error"))
    throw Error(result["error"].get<std::string>(), Error::Status{result["status"].get<int>()});
  return {result["status"].get<int>(), result["missing"].get<std::string>()};
}

int record_alternately(RecordOptions options, const std::vector<std::vector<std::string>> &commands,
                       uint32_t times, ComparedTraces &traces, const RunCapture &capture) {
  const std::string place = options.directory;
  int status = 0;
  for (uint32_t run = 1; run <= times; run++) {
    if (isatty(STDERR_FILENO))
      print("run {} of {}", run, times);
    for (const std::vector<std::string> &command : commands) {
      options.command = command;
      options.directory = place + "/" + std::to_string(traces.a.size() + traces.b.size());
      (&command == &commands.front() ? traces.a : traces.b).push_back(options.directory);
      const RepeatedResult result = record_apart(options, capture);
      if (!result.missing.empty())
        print("run {}: {}", run, result.missing);
      status = status ? status : result.exit_status;
    }
  }
  return status;
}

/// Splits a command into words, as the user: a pattern of names must not show files that only root
/// may see.
std::vector<std::string> words_of(const std::string &command) {
  const Identity user = calling_user();
  set_environment(user); // ~ and $HOME are the user's, as when the programs run
  const EffectiveIdentity as_user(user);
  wordexp_t expanded{};
  const int error = wordexp(command.c_str(), &expanded, WRDE_NOCMD | WRDE_UNDEF);
  std::vector<std::string> words;
  if (error == 0)
    words.assign(expanded.we_wordv, expanded.we_wordv + expanded.we_wordc);
  wordfree(&expanded);
  if (error || words.empty())
    throw UsageError("--against '" + command +
                     "' is no plain command line: for pipes and the like, write 'sh -c \"…\"'");
  return words;
}

} // namespace ovnitrace
