// SPDX-License-Identifier: BSD-2-Clause
#include "user/stacks/name_stacks.h"

#include "emulator/base/printable.h"
#include "emulator/symbols/c_library.h"
#include "emulator/symbols/file_symbols.h"
#include "user/stacks/address_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

namespace ovnitrace {

namespace {

/// Returns whether a function is the first of a thread. C reserves most of the names for the C
/// library, and Go has its own; a user's function can have the others.
bool starts_thread(const std::string &function, bool in_c_library) {
  constexpr std::array<std::string_view, 10> kOwn = {"_start",
                                                     "__libc_start_main",
                                                     "__libc_start_call_main",
                                                     "__libc_start_main_impl",
                                                     "_dl_start_user",
                                                     "__clone",
                                                     "__clone3",
                                                     "runtime.goexit",
                                                     "runtime.mstart",
                                                     "runtime.rt0_go"};
  constexpr std::array<std::string_view, 5> kInLibrary = {"start_thread", "clone", "clone3",
                                                          "thread_start", "_start_c"};
  return std::ranges::find(kOwn, function) != kOwn.end() ||
         (in_c_library && std::ranges::find(kInLibrary, function) != kInLibrary.end());
}

/// Returns whether the outermost frame is not where threads start, as it is where a thread is
/// whole.
bool is_cut(const NamedStacks &all, const CapturedStacks::Stack &stack) {
  const CapturedStacks &captured = all.captured;
  if (stack.user == 0 || stack.deep || stack.whole)
    return stack.deep;
  if (stack.stuck && stack.user == 1) // a thread that waits in clone() has not started there
    return true;
  const uint32_t last = captured.places[stack.first + stack.kernel + stack.user - 1];
  const CapturedFrame &frame = captured.frames[last];
  const std::string &function = all.frames[last].places.back().function;
  const bool in_c_library =
      frame.kind == CapturedFrame::file && is_c_library(captured.files[frame.where].path);
  if (!function.empty())
    return !starts_thread(function, in_c_library);
  // The symbols of those in which threads start are often stripped.
  return stack.stuck || stack.user == 1 || !in_c_library;
}

} // namespace

void find_cuts(NamedStacks &all) {
  all.cut.clear();
  for (const CapturedStacks::Stack &stack : all.captured.stacks)
    all.cut.push_back(is_cut(all, stack));
}

namespace {

/// Names what is in the kernel and in the memory of processes.
class Namer {
public:
  Namer(NamedStacks &stacks, int kallsyms, uint64_t since)
      : all_(stacks), captured_(stacks.captured), since_(since) {
    if (kallsyms >= 0)
      kernel_ = AddressNames::of_kernel(kallsyms);
  }

  void name() {
    all_.frames.resize(captured_.frames.size());
    // One process after another, so that the names of one are in memory.
    std::vector<uint32_t> order(captured_.frames.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      const CapturedFrame &x = captured_.frames[a], &y = captured_.frames[b];
      return std::pair(x.kind, x.where) < std::pair(y.kind, y.where);
    });
    for (const uint32_t index : order)
      name(captured_.frames[index], all_.frames[index]);
    all_.build_ids.resize(captured_.files.size()); // those of the kernel's modules have none
    for (CapturedStacks::Stack &stack : captured_.stacks)
      leave_out_tracer(stack);
  }

private:
  void name(const CapturedFrame &frame, NamedFrame &named) {
    if (frame.kind == CapturedFrame::kernel)
      name_kernel(frame, named);
    else if (frame.kind == CapturedFrame::file)
      named.offset = frame.address;
    else if (frame.kind != CapturedFrame::missing)
      name_in_process(frame, named);
  }

  void name_kernel(const CapturedFrame &frame, NamedFrame &named) {
    const AddressNames::Function function = kernel_.find(frame.address);
    named.places.front().function = function.name;
    if (!function.module.empty())
      named.module = module(std::string(function.module));
    named.offset = function.offset;
  }

  uint32_t module(const std::string &name) {
    const auto [at, added] = modules_.try_emplace(name, uint32_t(captured_.files.size()));
    if (added)
      captured_.files.push_back({name, 0});
    return at->second;
  }

  void name_in_process(const CapturedFrame &frame, NamedFrame &named) {
    if (pid_ != frame.where) {
      pid_ = frame.where;
      jit_ = AddressNames::of_process(pid_, since_, map_bytes_);
    }
    const std::string_view name = jit_.find(frame.address).name;
    if (name.size() > name_bytes_)
      return;
    name_bytes_ -= name.size();
    named.places.front().function = name;
  }

  /// Leaves out the innermost frames that the tracer itself adds to the kernel's part.
  void leave_out_tracer(CapturedStacks::Stack &stack) const {
    uint32_t own = 0;
    for (uint32_t n = 0; n < stack.kernel; n++) {
      const std::string &name =
          all_.frames[captured_.places[stack.first + n]].places.front().function;
      if (name.starts_with("bpf_") || name.starts_with("__bpf_") ||
          name.starts_with("__traceiter_") || name.starts_with("trace_call_bpf"))
        own = n + 1;
      else if (own)
        break;
    }
    stack.first += own;
    stack.kernel -= own;
  }

  NamedStacks &all_;
  CapturedStacks &captured_;
  AddressNames kernel_, jit_;
  std::map<std::string, uint32_t> modules_; ///< of the kernel, in captured_.files
  const uint64_t since_;
  uint32_t pid_ = UINT32_MAX;        ///< whose symbols are there
  uint64_t map_bytes_ = 512u << 20;  ///< that may be read of further maps
  uint64_t name_bytes_ = 256u << 20; ///< that further names may have
};

} // namespace

NamedStacks name_stacks(CapturedStacks &&captured, int kallsyms, uint64_t since) {
  NamedStacks stacks;
  stacks.captured = std::move(captured);
  stacks.missing = uint32_t(stacks.captured.frames.size());
  stacks.captured.frames.push_back({CapturedFrame::missing, 0, 0});
  Namer(stacks, kallsyms, since).name();
  find_cuts(stacks);
  return stacks;
}

namespace {

void warn_of_changed(const std::vector<std::string> &paths,
                     const std::function<void(const std::string &)> &warn) {
  constexpr size_t kMostNamed = 3;
  for (size_t n = 0; n < std::min(paths.size(), kMostNamed); n++)
    warn(printable_line(paths[n]) +
         " was changed or replaced after a process mapped it: its functions have addresses and no "
         "names");
  if (paths.size() > kMostNamed)
    warn(fmt::format("{} more files were changed or replaced, too", paths.size() - kMostNamed));
}

} // namespace

void name_files(NamedStacks &stacks, CodeFiles &files, const CodeFiles::Fetch &fetch,
                const std::function<void(const std::string &)> &warn) {
  const CapturedStacks &captured = stacks.captured;
  std::map<uint32_t, std::vector<uint32_t>> frames; ///< by file
  for (uint32_t n = 0; n < captured.frames.size(); n++)
    if (captured.frames[n].kind == CapturedFrame::file)
      frames[captured.frames[n].where].push_back(n);
  std::vector<CodeFiles::Use> uses;
  std::vector<CodeFile> used;
  for (const auto &[file, indices] : frames) {
    uses.push_back({&captured.files[file], captured.first_uses[file]});
    used.push_back(captured.files[file]);
  }
  files.open(uses);
  files.look_into_containers();
  if (fetch)
    files.find_debug_data(used, fetch);
  std::vector<PlacesOfFile> questions;
  std::vector<std::string> changed;
  for (const auto &[file, indices] : frames) {
    const CodeFile &code = captured.files[file];
    const CodeFiles::Opened opened = files.find(code);
    if (opened.changed)
      changed.push_back(code.path);
    questions.push_back({.path = opened.files.file < 0 ? "" : code.path,
                         .build_id = "",
                         .files = opened.files,
                         .places = {}});
    for (const uint32_t n : indices)
      questions.back().places.push_back({.offset = captured.frames[n].address});
  }
  warn_of_changed(changed, warn);
  std::vector<NamesOfFile> names = name_places(questions, warn);
  auto known = names.begin();
  for (const auto &[file, indices] : frames) {
    stacks.build_ids[file] = std::move(known->build_id);
    for (size_t n = 0; n < indices.size(); n++) {
      stacks.frames[indices[n]].address = known->places[n].address;
      stacks.frames[indices[n]].places = std::move(known->places[n].functions);
    }
    ++known;
  }
  find_cuts(stacks);
}

} // namespace ovnitrace
