// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/trigger_capture.h"

#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "user/bpf/bpf_log.h"
#include "user/bpf/kernel_types.h"
#include "user/bpf/preflight.h"

#include "trigger.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>

#include <cerrno>
#include <cstring>

namespace ovnitrace {

std::string text_of(const trigger_rule &rule, const trigger_hit &hit) {
  std::string text;
  for (const TriggerKindName &known : kTriggerKinds)
    if (known.kind == rule.kind)
      text = known.has_time ? fmt::format("{} {}", known.name, human_duration(hit.ns)) : known.name;
  text += fmt::format(" of {}({})", std::string_view(hit.comm, strnlen(hit.comm, sizeof hit.comm)),
                      hit.tid);
  if (rule.kind == TRIGGER_IDLE)
    text += fmt::format(": CPU {} was idle", hit.idle_cpu);
  return text;
}

std::string with_number(const std::string &cause, uint64_t hits) {
  return hits > 1 ? fmt::format("{} (hit {})", cause, human_count(hits)) : cause;
}

void prepare_trigger(trigger_bpf &o, const trigger_rule &rule, uint32_t cpus) {
  std::memcpy(const_cast<trigger_rule *>(&o.rodata->rule), &rule, sizeof rule);
  const bool sees_wakeups =
      rule.kind == TRIGGER_LATENCY || rule.kind == TRIGGER_IDLE || rule.kind == TRIGGER_BLOCKED;
  for (bpf_program *program : {o.progs.trigger_on_wakeup, o.progs.trigger_on_wakeup_new})
    bpf_program__set_autoload(program, sees_wakeups);
  o.rodata->possible_cpus = cpus;
  if (rule.kind == TRIGGER_IDLE)
    bpf_map__set_max_entries(o.maps.idle_cpus, cpus);
  if (rule.kind == TRIGGER_EXIT)
    bpf_map__set_max_entries(o.maps.trigger_since, 1); // not used
}

TriggerCapture::TriggerCapture(const Capture &capture, const trigger_rule &rule)
    : skeleton_(nullptr, trigger_bpf__destroy) {
  if (rule.kind == TRIGGER_IDLE)
    require_kernel(KernelPart::idle_trigger, KernelTypes());
  collect_bpf_log();
  skeleton_.reset(trigger_bpf__open());
  trigger_bpf *const o = skeleton_.get();
  if (!o)
    fail_bpf("open the BPF programs of --trigger", errno);
  capture.describe(*o->rodata);
  prepare_trigger(*o, rule, capture.cpus());
  if (const int error = capture.share_maps(o->obj))
    fail_bpf("share maps with the BPF programs of --trigger", error);
  if (const int error = load_skeleton(o->skeleton))
    fail_bpf("load the BPF programs of --trigger", error);
  log_bpf_object(o->obj);
  ring_.emplace(file(), bpf_map__max_entries(o->maps.trigger_hits)); // libbpf rounds up to pages
}

void TriggerCapture::attach() {
  collect_bpf_log();
  if (const int error = trigger_bpf__attach(skeleton_.get()))
    fail_bpf("attach the BPF programs of --trigger", error);
}

void TriggerCapture::detach() {
  trigger_bpf__detach(skeleton_.get());
}

int TriggerCapture::file() const {
  return bpf_map__fd(skeleton_->maps.trigger_hits);
}

std::optional<trigger_hit> TriggerCapture::take() {
  std::optional<trigger_hit> newest;
  ring_->drain(ring_->produced(), [&](const void *message, size_t bytes) {
    if (bytes == sizeof(trigger_hit))
      std::memcpy(&newest.emplace(), message, sizeof(trigger_hit));
  });
  return newest;
}

uint64_t TriggerCapture::hits() const {
  return __atomic_load_n(&skeleton_->bss->hits, __ATOMIC_RELAXED);
}

} // namespace ovnitrace
