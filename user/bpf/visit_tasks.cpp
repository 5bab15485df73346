// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/visit_tasks.h"

#include "emulator/base/unique_fd.h"
#include "user/bpf/bpf_log.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include <cerrno>

namespace ovnitrace {

std::string visit_tasks(bpf_program *program, const char *what) {
  bpf_link *link = bpf_program__attach_iter(program, nullptr);
  if (!link)
    fail_bpf("attach the task iterator", errno);
  const UniqueFd iterator(bpf_iter_create(bpf_link__fd(link)));
  std::string written;
  char bytes[4096];
  ssize_t got = -1;
  if (iterator)
    while ((got = read(iterator.get(), bytes, sizeof(bytes))) > 0 || (got < 0 && errno == EINTR))
      if (got > 0)
        written.append(bytes, size_t(got));
  const int error = errno;
  bpf_link__destroy(link);
  if (got < 0)
    fail_bpf(what, error);
  return written;
}

} // namespace ovnitrace
