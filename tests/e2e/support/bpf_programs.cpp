#include "tests/e2e/support/bpf_programs.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace ovnitrace::test {

std::set<uint32_t> bpf_programs_of(pid_t pid) {
  std::set<uint32_t> ids;
  std::error_code ignored;
  const std::string folder = "/proc/" + std::to_string(pid) + "/fdinfo";
  for (const auto &entry : std::filesystem::directory_iterator(folder, ignored)) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("prog_id:"))
        ids.insert(uint32_t(std::stoul(line.substr(8))));
  }
  return ids;
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
