// SPDX-License-Identifier: BSD-2-Clause
#include "tests/e2e/support/bpf_programs.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace::test {

namespace {

/// Returns what the kernel prints about each BPF descriptor of a process.
std::vector<std::map<std::string, uint64_t>> descriptors_of(pid_t pid) {
  std::vector<std::map<std::string, uint64_t>> all;
  std::error_code ignored;
  const std::string folder = "/proc/" + std::to_string(pid) + "/fdinfo";
  for (const auto &entry : std::filesystem::directory_iterator(folder, ignored)) {
    std::ifstream file(entry.path());
    std::map<std::string, uint64_t> fields;
    for (std::string line; std::getline(file, line);)
      if (const size_t colon = line.find(':'); colon != std::string::npos)
        fields[line.substr(0, colon)] = strtoull(line.c_str() + colon + 1, nullptr, 10);
    if (fields.contains("prog_id") || fields.contains("map_id"))
      all.push_back(std::move(fields));
  }
  return all;
}

} // namespace

std::set<uint32_t> bpf_programs_of(pid_t pid) {
  std::set<uint32_t> ids;
  for (auto &fields : descriptors_of(pid))
    if (fields.contains("prog_id"))
      ids.insert(uint32_t(fields["prog_id"]));
  return ids;
}

std::map<uint32_t, uint64_t> bpf_arrays_of(pid_t pid) {
  std::map<uint32_t, uint64_t> entries;
  for (auto &fields : descriptors_of(pid))
    if (fields.contains("map_id") && fields["map_type"] == BPF_MAP_TYPE_ARRAY)
      entries[uint32_t(fields["map_id"])] = fields["max_entries"];
  return entries;
}

bool bpf_program_exists(uint32_t id) {
  bpf_attr attributes = {};
  attributes.prog_id = id;
  const int fd = int(syscall(SYS_bpf, BPF_PROG_GET_FD_BY_ID, &attributes, sizeof attributes));
  if (fd >= 0)
    close(fd);
  return fd >= 0;
}

} // namespace ovnitrace::test
