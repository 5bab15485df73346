// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/diff/folded_diff.h"

#include "emulator/core/program_threads.h"
#include "emulator/off_cpu/folded.h"
#include "emulator/slices/slicer.h"

#include <fmt/format.h>

#include <algorithm>

namespace ovnitrace {

namespace {

/// Folds the first two elements of a stack: the process and the thread.
std::string with_folded_names(std::string_view stack, Names &names, const Renames &renames) {
  std::string text;
  for (int n = 0; n < 2; n++) {
    const size_t end = std::min(stack.find(';'), stack.size());
    text += names.fold(std::string(stack.substr(0, end)), renames) + ';';
    stack.remove_prefix(std::min(end + 1, stack.size()));
  }
  return text + std::string(stack);
}

} // namespace

void FoldedDiff::add(bool second, EventSource &source, const Cut &cut, DiagnosticSink &sink,
                     const Renames &renames) {
  const Catalog &catalog = source.catalog();
  const Stacks stacks(catalog, sink);
  OffCpuTimes times(catalog, stacks, {.per_thread = false, .programs = started_threads(catalog)});
  replay_slices(source, cut, times);
  Names names;
  each_folded(times, false, [&](const std::string &stack, uint64_t ns) {
    sums_[with_folded_names(stack, names, renames)].ns[second] += ns;
  });
  runs_[second]++;
}

void FoldedDiff::lines(const std::function<void(std::string_view)> &take) const {
  const auto mean = [&](const Sum &sum, size_t side) {
    return sum.ns[side] / std::max<uint64_t>(runs_[side], 1);
  };
  for (const auto &[stack, sum] : sums_)
    take(fmt::format("{} {} {}", stack, mean(sum, 0), mean(sum, 1)));
}

} // namespace ovnitrace
