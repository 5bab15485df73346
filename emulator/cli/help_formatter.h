// SPDX-License-Identifier: BSD-2-Clause
// Formats --help: what a person needs, without the parser's own notes, in 100 columns.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <string>

namespace ovnitrace {

class HelpFormatter final : public CLI::Formatter {
public:
  /// `usage`: what follows "Usage: "; empty: made from the options. Applies to subcommands that are
  /// added later, too.
  explicit HelpFormatter(std::string usage = {}) : usage_(std::move(usage)) {}

  std::string make_help(const CLI::App *app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_usage(const CLI::App *app, std::string name) const override;
  std::string make_option(const CLI::Option *option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App *command) const override;

private:
  std::string usage_;
};

/// Returns how --help shows an option, as "-o, --output DIR" or "TRACE...".
std::string shown_name(const CLI::Option &option);

} // namespace ovnitrace
