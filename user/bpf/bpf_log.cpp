// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/bpf_log.h"

#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "user/bpf/preflight.h"
#include "user/bpf/twins.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

namespace ovnitrace {

namespace {

constexpr size_t kMaxLog = 16 << 10;
constexpr size_t kMaxLine = 4 << 10;

std::string &text() {
  static std::string log;
  return log;
}

int collect(libbpf_print_level level, const char *format, va_list arguments) {
  const bool collected = level != LIBBPF_DEBUG && text().size() <= kMaxLog;
  if (!collected && !has_debug_log())
    return 0;
  va_list again;
  va_copy(again, arguments);
  std::string line(size_t(std::max(0, vsnprintf(nullptr, 0, format, again))), '\0');
  va_end(again);
  vsnprintf(line.data(), line.size() + 1, format, arguments);
  log_debug("{}", std::string_view(line).substr(0, line.find_last_not_of('\n') + 1));
  if (collected) // the verifier's verdict is at the end of its log
    text() += line.size() > kMaxLine ? "…" + line.substr(line.size() - kMaxLine) : line;
  return 0;
}

} // namespace

void collect_bpf_log() {
  libbpf_set_print(collect);
  text().clear();
}

int load_skeleton(bpf_object_skeleton *skeleton) {
  std::vector<void **> mapped; // pointers to variables, which libbpf sets
  for (int n = 0; n < skeleton->map_cnt; n++)
    if (skeleton->maps[n].mmaped && bpf_map__map_flags(*skeleton->maps[n].map) & BPF_F_MMAPABLE)
      mapped.push_back(skeleton->maps[n].mmaped);
  const int error = bpf_object__load_skeleton(skeleton);
  const bool complete = std::ranges::none_of(mapped, [](void **to) { return *to == nullptr; });
  return error || complete ? error : -ENOMEM;
}

void log_bpf_object(bpf_object *object) {
  bpf_program *program = nullptr;
  bpf_object__for_each_program(program, object) {
    const char *name = bpf_program__name(program), *section = bpf_program__section_name(program);
    if (bpf_program__autoload(program))
      log_debug("program {} ({}): {} instructions", name, section, bpf_program__insn_cnt(program));
    else
      log_debug("program {} ({}): not loaded", name, section);
  }
  bpf_map *map = nullptr;
  bpf_object__for_each_map(map, object) {
    log_debug("map {}: {} entries, keys of {} and values of {} bytes", bpf_map__name(map),
              bpf_map__max_entries(map), bpf_map__key_size(map), bpf_map__value_size(map));
  }
}

void fail_bpf(const std::string &what, int error) {
  throw Error(explain_bpf_failure(what, error < 0 ? -error : error, text()));
}

std::string why_refused(int error) {
  const std::string verdict = verifier_verdict(text());
  return verdict.empty() ? std::strerror(error) : verdict;
}

uint64_t skipped_runs_of(bpf_object *object, std::string_view except) {
  uint64_t skipped = 0;
  bpf_program *program = nullptr;
  bpf_object__for_each_program(program, object) {
    int fd = bpf_program__fd(program);
    bpf_prog_info info = {};
    uint32_t size = sizeof(info);
    const std::string_view name = bpf_program__name(program);
    if (fd >= 0 && name != except && !has_twin(object, name) &&
        bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
      skipped += info.recursion_misses;
  }
  return skipped;
}

} // namespace ovnitrace
