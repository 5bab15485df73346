// SPDX-License-Identifier: BSD-2-Clause
// Types of a kernel that is made up, and what was chosen for it in a BPF object.
#pragma once

#include "user/bpf/kernel_types.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace::test {

/// A name and a place in bytes.
using Placed = std::pair<std::string, uint32_t>;

class FakeKernel {
public:
  FakeKernel() : types_(btf__new_empty()), int_(btf__add_int(types_, "int", 4, BTF_INT_SIGNED)) {}
  ~FakeKernel() { btf__free(types_); }
  FakeKernel(const FakeKernel &) = delete;
  FakeKernel &operator=(const FakeKernel &) = delete;

  FakeKernel &tracepoint(const std::string &name, int arguments) {
    const int function = prototype(arguments + 1); // the first one is the tracer's
    btf__add_typedef(types_, ("btf_trace_" + name).c_str(), btf__add_ptr(types_, function));
    return *this;
  }
  FakeKernel &function(const std::string &name) {
    btf__add_func(types_, name.c_str(), BTF_FUNC_GLOBAL, prototype(0));
    return *this;
  }
  /// Call it once.
  FakeKernel &helpers(const std::vector<std::string> &names) {
    btf__add_enum(types_, "bpf_func_id", 4);
    for (size_t n = 0; n < names.size(); n++)
      btf__add_enum_value(types_, ("BPF_FUNC_" + names[n]).c_str(), int64_t(n));
    return *this;
  }
  /// Variables of a CPU. Call it once.
  FakeKernel &per_cpu(const std::vector<Placed> &variables) {
    std::vector<int> ids;
    for (const auto &[name, place] : variables)
      ids.push_back(btf__add_var(types_, name.c_str(), BTF_VAR_GLOBAL_ALLOCATED, int_));
    btf__add_datasec(types_, ".data..percpu", 1 << 20);
    for (size_t n = 0; n < ids.size(); n++)
      btf__add_datasec_var_info(types_, ids[n], variables[n].second, 4);
    return *this;
  }
  FakeKernel &structure(const std::string &name, const std::vector<Placed> &members) {
    add_structure(name.c_str(), members, int_);
    return *this;
  }
  /// A structure whose one member, at `place`, has no name and is such a structure.
  FakeKernel &nested(const std::string &name, uint32_t place, const std::vector<Placed> &members) {
    const int inner = add_structure(nullptr, members, int_);
    add_structure(name.c_str(), {{"first", 0}}, int_);
    btf__add_field(types_, nullptr, inner, place * 8, 0);
    return *this;
  }
  btf *raw() { return types_; }
  int integer() const { return int_; }

  /// Call it once, at the end.
  KernelTypes types() { return KernelTypes(std::exchange(types_, nullptr)); }

private:
  int prototype(int arguments) {
    const int id = btf__add_func_proto(types_, int_);
    for (int n = 0; n < arguments; n++)
      btf__add_func_param(types_, ("a" + std::to_string(n)).c_str(), int_);
    return id;
  }
  int add_structure(const char *name, const std::vector<Placed> &members, int type) {
    const int id = btf__add_struct(types_, name, 4096);
    for (const auto &[member, place] : members)
      btf__add_field(types_, member.c_str(), type, place * 8, 0);
    return id;
  }

  btf *types_;
  int int_;
};

/// Returns the programs of an object that will be loaded.
inline std::set<std::string> programs_to_load(const bpf_object *object) {
  std::set<std::string> names;
  bpf_program *program = nullptr;
  while ((program = bpf_object__next_program(object, program)))
    if (bpf_program__autoload(program))
      names.insert(bpf_program__name(program));
  return names;
}

} // namespace ovnitrace::test
