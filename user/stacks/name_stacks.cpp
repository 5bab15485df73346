// SPDX-License-Identifier: BSD-2-Clause
#include "user/stacks/name_stacks.h"

#include "emulator/symbols/c_library.h"
#include "user/stacks/address_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

namespace ovnitrace {

namespace {

/// Functions that are the first of a thread, whatever the language.
bool starts_thread(const std::string &function) {
  constexpr std::array<std::string_view, 15> kFirst = {"_start",
                                                       "__libc_start_main",
                                                       "__libc_start_call_main",
                                                       "start_thread",
                                                       "clone",
                                                       "clone3",
                                                       "__clone",
                                                       "__clone3",
                                                       "_dl_start_user",
                                                       "_start_c",
                                                       "__libc_start_main_impl",
                                                       "runtime.goexit",
                                                       "runtime.mstart",
                                                       "runtime.rt0_go",
                                                       "thread_start"};
  return std::find(kFirst.begin(), kFirst.end(), function) != kFirst.end();
}

class Namer {
public:
  Namer(NamedStacks &stacks, int kallsyms) : all_(stacks), captured_(stacks.captured) {
    if (kallsyms >= 0)
      kernel_ = AddressNames::of_kernel(kallsyms);
  }

  void name() {
    all_.frames.resize(captured_.frames.size());
    all_.build_ids.resize(captured_.files.size());
    // One file after another, so that one is open at a time.
    std::vector<uint32_t> order(captured_.frames.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      const CapturedFrame &x = captured_.frames[a], &y = captured_.frames[b];
      return std::pair(x.kind, x.where) < std::pair(y.kind, y.where);
    });
    for (const uint32_t index : order)
      name(captured_.frames[index], all_.frames[index]);
    elf_.reset();
    all_.build_ids.resize(captured_.files.size()); // those of the kernel's modules have none
    for (CapturedStacks::Stack &stack : captured_.stacks)
      leave_out_tracer(stack);
    for (const CapturedStacks::Stack &stack : captured_.stacks)
      all_.cut.push_back(is_cut(stack));
  }

private:
  void name(const CapturedFrame &frame, NamedFrame &named) {
    if (frame.kind == CapturedFrame::kernel)
      name_kernel(frame, named);
    else if (frame.kind == CapturedFrame::file)
      name_in_file(frame, named);
    else
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

  void name_in_file(const CapturedFrame &frame, NamedFrame &named) {
    named.offset = frame.address;
    if (file_ != frame.where) {
      file_ = frame.where;
      const CodeFile &file = captured_.files[frame.where];
      elf_ = ElfSymbols::open(file.path, "");
      if (elf_ && elf_->inode() != file.inode)
        elf_.reset(); // another file has its place
      if (elf_)
        all_.build_ids[frame.where] = elf_->build_id();
    }
    if (!elf_)
      return;
    named.address = elf_->address_of(frame.address);
    if (named.address)
      named.places = elf_->at(*named.address);
  }

  void name_in_process(const CapturedFrame &frame, NamedFrame &named) {
    if (pid_ != frame.where) {
      pid_ = frame.where;
      jit_ = AddressNames::of_process(pid_);
    }
    named.places.front().function = jit_.find(frame.address).name;
  }

  /// What the tracer itself adds to the kernel's part stands innermost.
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

  /// Of a thread that is whole, the outermost frame is where threads start. (Frame pointers of a
  /// static program can lead on from there, to nowhere.)
  bool is_cut(const CapturedStacks::Stack &stack) const {
    if (stack.user == 0 || stack.deep)
      return stack.deep;
    const auto places = std::span(captured_.places).subspan(stack.first + stack.kernel, stack.user);
    if (std::any_of(places.begin(), places.end(), [this](uint32_t place) {
          return starts_thread(all_.frames[place].places.back().function);
        }))
      return false;
    const uint32_t last = places.back();
    const CapturedFrame &frame = captured_.frames[last];
    const std::string &function = all_.frames[last].places.back().function;
    if (!function.empty())
      return true;
    // The symbols of those in which threads start are often stripped.
    return stack.user == 1 || frame.kind != CapturedFrame::file ||
           !is_c_library(captured_.files[frame.where].path);
  }

  NamedStacks &all_;
  CapturedStacks &captured_;
  AddressNames kernel_, jit_;
  std::map<std::string, uint32_t> modules_; ///< of the kernel, in captured_.files
  std::unique_ptr<ElfSymbols> elf_;
  uint32_t file_ = UINT32_MAX, pid_ = UINT32_MAX; ///< whose symbols are there
};

} // namespace

NamedStacks name_stacks(CapturedStacks &&captured, int kallsyms) {
  NamedStacks stacks;
  stacks.captured = std::move(captured);
  Namer(stacks, kallsyms).name();
  return stacks;
}

} // namespace ovnitrace
