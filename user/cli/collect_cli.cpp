// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/commands.h"

#include "emulator/base/error.h"
#include "emulator/cli/output_ending.h"
#include "emulator/cli/run.h"
#include "emulator/cli/shared_options.h"
#include "user/cli/number_option.h"
#include "user/net/collector.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace ovnitrace {

namespace {

constexpr const char *kLoopback = "tcp://127.0.0.1";

struct CollectArguments {
  std::vector<std::string> listen = {kLoopback};
  CollectOptions options;
};

int run_collector(const CollectArguments &arguments) {
  CollectOptions options = arguments.options;
  check_is_no_stdout(options.directory, "traces are directories of files: name one for them");
  for (const std::string &text : arguments.listen)
    options.listen.push_back(listen_address("--listen", text));
  const bool all_udp =
      std::all_of(options.listen.begin(), options.listen.end(),
                  [](const Endpoint &endpoint) { return endpoint.transport == Endpoint::kUdp; });
  if (all_udp && !options.key_file.empty())
    throw UsageError("--key works only with tcp://: datagrams are not encrypted");
  return collect(options);
}

} // namespace

void add_collect(App app) {
  const auto arguments = std::make_shared<CollectArguments>();
  CollectOptions &options = arguments->options;
  const App command =
      add_unprivileged(app, "collect", "Receive traces that other machines send with --send");
  command
      .add_option(
          "-l,--listen", arguments->listen,
          "Listen at tcp://ADDRESS:PORT (for --send) or udp://ADDRESS:PORT (for programs with "
          "libovnitrace). tcp:// and :20000 can be left out; a number alone is a port of "
          "127.0.0.1. Port 0 is any free port. Can be given more "
          "than once (default: tcp://127.0.0.1:20000, which only this machine reaches)")
      .type_name("ADDRESS");
  command
      .add_option(
          kOutput, options.directory,
          "Write into this directory (default: the current one). Each trace gets a directory in it")
      .type_name("DIR");
  command
      .add_option(
          kKey, options.key_file,
          "Encrypt everything (TLS 1.3) with the secret in this file. Senders need the same "
          "secret. The secret must have 16 bytes or more. The file must be accessible only to its "
          "owner (chmod 600)")
      .type_name("FILE");
  add_size(command, "--max-size", options.trace_bytes,
           "Largest size of one trace (default: no limit)");
  add_number(command, "--max-senders", options.senders, 1, 10'000,
             "Accept at most N senders at a time (default: 64)");
  command.add_flag(kQuiet, options.quiet, "Print errors only");
  command.footer(
      "Collects until Ctrl-C. The exit status is 3 if a trace is not complete.\n\n"
      "Examples:\n"
      "  ovnitrace collect -o traces\n"
      "  sudo ovnitrace --send tcp://127.0.0.1 -- ./app            on the same machine\n"
      "  (umask 077; head -c 32 /dev/urandom | base64 > secret)    a key for both machines\n"
      "  ovnitrace collect --listen tcp://192.0.2.1:20000 --key secret -o traces\n"
      "  sudo ovnitrace --send tcp://192.0.2.1 --key secret -- ./app");
  command.callback([arguments] { return run_collector(*arguments); });
}

} // namespace ovnitrace
