// SPDX-License-Identifier: BSD-2-Clause
// Shows changes of a thread's priority and policy.
#include "emulator/models/registry.h"
#include "emulator/models/value_labels.h"

#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

namespace {

enum : uint32_t { kSet, kPolicy };

constexpr int64_t kNotGiven = 255; // in the manual the event has no parameters

void set_priority(ModelContext &ctx, const Event &event) {
  const uint32_t policy = added_par2(event) >> FTRACE_POLICY_SHIFT;
  if (!policy)
    return ctx.punctual(kSet, event.thread, kNotGiven);
  ctx.punctual(kSet, event.thread, event.par2 & FTRACE_PRIO_MASK);
  ctx.set(kPolicy, event.thread, policy);
}

std::vector<ValueLabel> labels() {
  std::vector<ValueLabel> all = priority_labels();
  all.push_back({kNotGiven, "Not known"});
  return all;
}

} // namespace

Model priority_model() {
  return {
      "priority",
      "changes of the priority and the policy of threads",
      {
          {.name = "priority set",
           .label = "Priority + 2 that the thread is given",
           .none = "No change",
           .thread_type = 420,
           .values = labels()},
          {.name = "policy",
           .label = "Scheduling policy since it was changed",
           .none = "Not known",
           .thread_type = 421,
           .values = value_labels(kPolicyNames, 1)},
      },
      {
          {FTrace_EVT_set_priority, set_priority,
           "punctual: the new priority + 2, 255 if it is not known; the policy + 1"},
      },
  };
}

} // namespace ovnitrace
