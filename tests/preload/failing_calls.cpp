// SPDX-License-Identifier: BSD-2-Clause
// Loaded into ovnitrace with LD_PRELOAD. Logs the system calls that it makes, or fails one of them.
// A call is named by its kind, by a hash of the functions that lead to it, and by how many such
// calls came before it. FAILING_CALLS in the environment is a file, which gets a line for each
// call:
//   call KIND SITE NTH FILE
//     FILE: r regular, s stream to another machine, u other socket, p pipe, - none of these
// With FAIL_CALL="KIND SITE NTH ERRNO" this call fails, or is short if ERRNO is 0. Only that is
// logged then, and the functions that led to it: "failed MODULE+OFFSET…".
// What ovnitrace starts is left alone: both variables and LD_PRELOAD are removed.
#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr size_t kMostSites = 1 << 13, kMostFrames = 32;

/// Shared with the processes that ovnitrace forks: a call fails once in all of them.
struct Counts {
  std::atomic<bool> failed;
  struct {
    std::atomic<uint64_t> site;
    std::atomic<uint32_t> calls;
  } sites[kMostSites];
};

Counts *counts;
int log_file = -1;
char wanted_kind[32];
uint64_t wanted_site;
unsigned wanted_nth;
int wanted_error;

template <typename Function> Function *real(const char *name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}
#define REAL(name)                                                                                 \
  (*[] {                                                                                           \
    static const auto f = real<decltype(name)>(#name);                                             \
    return f;                                                                                      \
  }())

long raw_write(int fd, const char *text, size_t size) {
  return REAL(syscall)(SYS_write, fd, text, size);
}

struct Frames {
  void *at[kMostFrames];
  size_t count;
};

uint64_t hash(uint64_t seed, std::string_view bytes) {
  for (const char byte : bytes)
    seed = (seed ^ uint8_t(byte)) * 0x100000001b3;
  return seed;
}

/// The file of a function, without its folder, and where in that it is.
struct Place {
  std::string_view file = "?";
  uint64_t offset = 0;
};
Place place_of(const void *address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname)
    return {};
  const std::string_view path = info.dli_fname;
  return {path.substr(path.rfind('/') + 1),
          uint64_t(static_cast<const char *>(address) - static_cast<const char *>(info.dli_fbase))};
}

uint64_t site_of(const char *kind, const Frames &frames) {
  uint64_t site = hash(0xcbf29ce484222325, kind);
  for (size_t n = 0; n < frames.count; n++) {
    const Place place = place_of(frames.at[n]);
    site = hash(hash(site, place.file), {reinterpret_cast<const char *>(&place.offset), 8});
  }
  return site ? site : 1;
}

/// How many calls came before this one from there.
uint32_t count(uint64_t site) {
  for (size_t n = site % kMostSites;; n = (n + 1) % kMostSites) {
    uint64_t there = 0;
    if (counts->sites[n].site.compare_exchange_strong(there, site) || there == site)
      return counts->sites[n].calls++;
  }
}

char file_kind(int fd) {
  struct stat status;
  int type = 0, domain = 0;
  socklen_t size = sizeof type;
  if (fd < 0 || fstat(fd, &status) != 0)
    return '-';
  if (S_ISSOCK(status.st_mode))
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM &&
                   getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain != AF_UNIX
               ? 's'
               : 'u';
  return S_ISREG(status.st_mode) ? 'r' : S_ISFIFO(status.st_mode) ? 'p' : '-';
}

void log_failure(const Frames &frames) {
  char line[4096];
  int size = snprintf(line, sizeof line, "failed");
  for (size_t n = 0; n < frames.count && size < 4000; n++) {
    const Place place = place_of(frames.at[n]);
    size += snprintf(line + size, sizeof line - size_t(size), " %.*s+0x%llx",
                     int(place.file.size()), place.file.data(), (unsigned long long)place.offset);
  }
  line[size++] = '\n';
  raw_write(log_file, line, size_t(size));
}

enum class Verdict { pass, fail, cut };

/// Decides about a call. Sets errno if it is to fail.
Verdict verdict(const char *kind, int fd = -1) {
  if (log_file < 0 || (*wanted_kind && strcmp(kind, wanted_kind) != 0))
    return Verdict::pass;
  const int before = errno;
  Frames frames;
  constexpr int kOurs = 2; // this function and the one that replaces the call
  void *all[kMostFrames + kOurs];
  frames.count = size_t(std::max(0, backtrace(all, kMostFrames + kOurs) - kOurs));
  std::copy_n(all + kOurs, frames.count, frames.at);
  const uint64_t site = site_of(kind, frames);
  const uint32_t nth = count(site);
  errno = before;
  if (!*wanted_kind) {
    char line[128];
    const int size = snprintf(line, sizeof line, "call %s %llx %u %c\n", kind,
                              (unsigned long long)site, nth, file_kind(fd));
    raw_write(log_file, line, size_t(size));
    errno = before;
    return Verdict::pass;
  }
  if (site != wanted_site || nth != wanted_nth || counts->failed.exchange(true))
    return Verdict::pass;
  log_failure(frames);
  errno = wanted_error ? wanted_error : before;
  return wanted_error ? Verdict::fail : Verdict::cut;
}

size_t shorter(size_t size) {
  return std::max<size_t>(1, size / 2);
}

__attribute__((constructor)) void prepare() {
  const char *log = getenv("FAILING_CALLS"), *wanted = getenv("FAIL_CALL");
  void *loads_the_unwinder[1];
  if (log && strcmp(program_invocation_short_name, "ovnitrace") == 0) {
    void *memory = REAL(mmap)(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    counts = static_cast<Counts *>(memory);
    unsigned long long site = 0;
    if (wanted &&
        sscanf(wanted, "%31s %llx %u %d", wanted_kind, &site, &wanted_nth, &wanted_error) != 4)
      abort();
    wanted_site = site;
    backtrace(loads_the_unwinder, 1);
    constexpr int kOutOfTheWay = 900; // ovnitrace may close or count the first ones
    const int fd = REAL(open)(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    log_file = fcntl(fd, F_DUPFD_CLOEXEC, kOutOfTheWay);
    REAL(close)(fd);
    if (log_file < 0)
      abort();
  }
  for (const char *name : {"LD_PRELOAD", "FAILING_CALLS", "FAIL_CALL"})
    unsetenv(name);
}

} // namespace

// A file that is created is another kind of call: only that can lack space.
#define OPENING(name, flags)                                                                       \
  mode_t mode = 0;                                                                                 \
  const bool creates = ((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE;                 \
  if (creates) {                                                                                   \
    va_list arguments;                                                                             \
    va_start(arguments, flags);                                                                    \
    mode = va_arg(arguments, mode_t);                                                              \
    va_end(arguments);                                                                             \
  }                                                                                                \
  if (verdict(creates ? "create" : "open") == Verdict::fail)                                       \
    return -1;

extern "C" {

int open(const char *path, int flags, ...) {
  OPENING(open, flags)
  return REAL(open)(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  OPENING(open64, flags)
  return REAL(open64)(path, flags, mode);
}
int openat(int at, const char *path, int flags, ...) {
  OPENING(openat, flags)
  return REAL(openat)(at, path, flags, mode);
}
int openat64(int at, const char *path, int flags, ...) {
  OPENING(openat64, flags)
  return REAL(openat64)(at, path, flags, mode);
}
int __open64_2(const char *path, int flags);
int __open64_2(const char *path, int flags) {
  return verdict("open") == Verdict::fail ? -1 : REAL(open64)(path, flags);
}
int __openat64_2(int at, const char *path, int flags);
int __openat64_2(int at, const char *path, int flags) {
  return verdict("open") == Verdict::fail ? -1 : REAL(openat64)(at, path, flags);
}
FILE *fopen(const char *path, const char *mode) {
  return verdict("open") == Verdict::fail ? nullptr : REAL(fopen)(path, mode);
}
FILE *fopen64(const char *path, const char *mode) {
  return verdict("open") == Verdict::fail ? nullptr : REAL(fopen64)(path, mode);
}
DIR *opendir(const char *path) {
  return verdict("open") == Verdict::fail ? nullptr : REAL(opendir)(path);
}

#define TRANSFER(name, kind, buffer)                                                               \
  ssize_t name(int fd, buffer data, size_t size) {                                                 \
    const Verdict now = verdict(kind, fd);                                                         \
    return now == Verdict::fail                                                                    \
               ? -1                                                                                \
               : REAL(name)(fd, data, now == Verdict::cut ? shorter(size) : size);                 \
  }
TRANSFER(read, "read", void *)
TRANSFER(write, "write", const void *)
#define TRANSFER_AT(name, kind, buffer, where)                                                     \
  ssize_t name(int fd, buffer data, size_t size, where offset) {                                   \
    const Verdict now = verdict(kind, fd);                                                         \
    return now == Verdict::fail                                                                    \
               ? -1                                                                                \
               : REAL(name)(fd, data, now == Verdict::cut ? shorter(size) : size, offset);         \
  }
TRANSFER_AT(pread, "pread", void *, off_t)
TRANSFER_AT(pread64, "pread", void *, off64_t)
TRANSFER_AT(pwrite, "pwrite", const void *, off_t)
TRANSFER_AT(pwrite64, "pwrite", const void *, off64_t)
TRANSFER_AT(recv, "recv", void *, int)
TRANSFER_AT(send, "send", const void *, int)

int close(int fd) {
  const Verdict now = verdict("close", fd);
  const int error = errno, result = REAL(close)(fd);
  if (now == Verdict::fail)
    errno = error;
  return now == Verdict::fail ? -1 : result;
}
int fsync(int fd) {
  return verdict("fsync", fd) == Verdict::fail ? -1 : REAL(fsync)(fd);
}
int fdatasync(int fd) {
  return verdict("fsync", fd) == Verdict::fail ? -1 : REAL(fdatasync)(fd);
}
int rename(const char *from, const char *to) noexcept {
  return verdict("rename") == Verdict::fail ? -1 : REAL(rename)(from, to);
}
int renameat(int at, const char *from, int there, const char *to) noexcept {
  return verdict("rename") == Verdict::fail ? -1 : REAL(renameat)(at, from, there, to);
}
int linkat(int at, const char *from, int there, const char *to, int flags) noexcept {
  return verdict("rename") == Verdict::fail ? -1 : REAL(linkat)(at, from, there, to, flags);
}
int ftruncate64(int fd, off64_t size) noexcept {
  return verdict("ftruncate", fd) == Verdict::fail ? -1 : REAL(ftruncate64)(fd, size);
}
void *mmap(void *at, size_t size, int access, int flags, int fd, off_t offset) noexcept {
  return verdict("mmap") == Verdict::fail ? MAP_FAILED
                                          : REAL(mmap)(at, size, access, flags, fd, offset);
}
void *mmap64(void *at, size_t size, int access, int flags, int fd, off64_t offset) noexcept {
  return verdict("mmap") == Verdict::fail ? MAP_FAILED
                                          : REAL(mmap64)(at, size, access, flags, fd, offset);
}
int socket(int family, int type, int protocol) noexcept {
  return verdict("socket") == Verdict::fail ? -1 : REAL(socket)(family, type, protocol);
}
int connect(int fd, const sockaddr *to, socklen_t size) {
  return verdict("connect") == Verdict::fail ? -1 : REAL(connect)(fd, to, size);
}
long ptrace(__ptrace_request request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  const pid_t pid = va_arg(arguments, pid_t);
  void *address = va_arg(arguments, void *), *data = va_arg(arguments, void *);
  va_end(arguments);
  // With a thread that is traced already, it fails only if the thread is gone.
  if (request == PTRACE_SEIZE && verdict("ptrace") == Verdict::fail)
    return -1;
  return REAL(ptrace)(request, pid, address, data);
}
/// libbpf makes its calls so.
long syscall(long number, ...) noexcept {
  va_list arguments;
  va_start(arguments, number);
  long a[6];
  for (long &argument : a)
    argument = va_arg(arguments, long);
  va_end(arguments);
  const char *kind = number == SYS_bpf               ? "bpf"
                     : number == SYS_perf_event_open ? "perf_event_open"
                                                     : nullptr;
  if (kind && verdict(kind) == Verdict::fail)
    return -1;
  return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

} // extern "C"
