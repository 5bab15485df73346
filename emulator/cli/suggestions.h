// SPDX-License-Identifier: BSD-2-Clause
// Lists the values that the completion of the shell offers for an option.
#pragma once

#include <CLI/Option.hpp>

#include <string>
#include <vector>

namespace ovnitrace {

/// What a value of an option names, if it is not a fixed word.
enum class ValueKind {
  other,      ///< words, numbers, times
  file,       ///< type names FILE…, PATH and TRACE
  directory,  ///< type name DIR
  trace_pid,  ///< a process of the trace in the line
  trace_tid,  ///< a thread
  trace_comm, ///< the name of a thread
  trace_cpu,  ///< a CPU
  trace_mark, ///< a time, given as a mark of the trace
  process,    ///< a running process, or its name
  user,       ///< a user of this machine
};

/// Returns the kind that Option::values() set for the option, else the one of its type name.
ValueKind value_kind(const CLI::Option &option);

/// Returns the fixed words of Option::one_of() and Option::values().
std::vector<std::string> value_words(const CLI::Option &option);

struct Suggestion {
  std::string word;
  std::string what; ///< its meaning; may be empty
};

/// Returns all existing values of this kind. `traces`: the traces that the command line names.
/// Reports no errors.
std::vector<Suggestion> suggestions(ValueKind kind, const std::vector<std::string> &traces);

} // namespace ovnitrace
