// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/twins.h"

#include "user/bpf/kernel_types.h"

#include <bpf/libbpf.h>

#include <string>

namespace ovnitrace {

namespace {

constexpr std::string_view kSuffix = "_twin";

} // namespace

bool choose_twins(bpf_object *object, const KernelTypes &types) {
  const bool needed = types.can_preempt_tracepoints();
  bpf_program *program = nullptr;
  bpf_object__for_each_program(program, object) {
    if (!needed && std::string_view(bpf_program__name(program)).ends_with(kSuffix))
      bpf_program__set_autoload(program, false);
  }
  return needed;
}

bool has_twin(bpf_object *object, std::string_view program) {
  const std::string name = std::string(program).append(kSuffix);
  const bpf_program *twin = bpf_object__find_program_by_name(object, name.c_str());
  return twin && bpf_program__fd(twin) >= 0;
}

} // namespace ovnitrace
