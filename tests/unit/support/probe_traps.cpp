// SPDX-License-Identifier: BSD-2-Clause
#include "tests/unit/support/probe_traps.h"

#include <gtest/gtest.h>

#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

namespace ovnitrace::test {

namespace {

#if defined(__aarch64__)
using Code = uint32_t;
constexpr Code kNop = 0xd503201f, kTrap = 0xd4200000; // brk 0
#else
using Code = unsigned char;
constexpr Code kNop = 0x90, kTrap = 0xcc;
#endif

// For the signal handler.
constexpr size_t kMost = 64;
unsigned char *g_address[kMost];
volatile unsigned g_fired[kMost];
size_t g_count;

/// The trap is as long as the nop: the program goes on behind it. arm64 reports the address of the
/// trap, x86-64 that behind it.
void on_trap(int, siginfo_t *, void *context) {
  mcontext_t &at = static_cast<ucontext_t *>(context)->uc_mcontext;
#if defined(__aarch64__)
  const uintptr_t after = at.pc += sizeof(Code);
#else
  const auto after = uintptr_t(at.gregs[REG_RIP]);
#endif
  for (size_t i = 0; i < g_count; i++)
    if (uintptr_t(g_address[i]) + sizeof(Code) == after) {
      g_fired[i] = g_fired[i] + 1;
      return;
    }
  abort();
}

/// The description of a probe's note: three addresses, then strings.
void add_note(const char *text, size_t size, uint64_t base, const std::string &provider,
              std::map<unsigned char *, std::string> &places) {
  constexpr size_t kAddresses = 3 * sizeof(uint64_t);
  if (size < kAddresses || text[size - 1] != '\0' || provider != text + kAddresses)
    return;
  uint64_t nop;
  memcpy(&nop, text, sizeof nop);
  places[reinterpret_cast<unsigned char *>(base + nop)] = text + kAddresses + provider.size() + 1;
}

void read_notes(const char *path, uint64_t base, const std::string &provider,
                std::map<unsigned char *, std::string> &places) {
  elf_version(EV_CURRENT);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  Elf *elf = elf_begin(fd, ELF_C_READ, nullptr);
  for (Elf_Scn *section = nullptr; (section = elf_nextscn(elf, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
      continue;
    Elf_Data *data = elf_getdata(section, nullptr);
    GElf_Nhdr note;
    size_t name, text;
    for (size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &text)) > 0;) {
      const char *bytes = static_cast<const char *>(data->d_buf);
      if (note.n_type == 3 && note.n_namesz == sizeof "stapsdt" &&
          strcmp(bytes + name, "stapsdt") == 0)
        add_note(bytes + text, note.n_descsz, base, provider, places);
    }
  }
  elf_end(elf);
  close(fd);
}

void write_code(unsigned char *at, Code code) {
  const auto page = uintptr_t(sysconf(_SC_PAGESIZE));
  void *start = reinterpret_cast<void *>(uintptr_t(at) & ~(page - 1));
  ASSERT_EQ(mprotect(start, page, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
  memcpy(at, &code, sizeof code);
  __builtin___clear_cache(reinterpret_cast<char *>(at), reinterpret_cast<char *>(at + sizeof code));
  ASSERT_EQ(mprotect(start, page, PROT_READ | PROT_EXEC), 0);
}

} // namespace

ProbeTraps::ProbeTraps(void *library, const std::string &provider) {
  link_map *map = nullptr;
  EXPECT_EQ(dlinfo(library, RTLD_DI_LINKMAP, &map), 0) << dlerror();
  read_notes(map->l_name, map->l_addr, provider, places_);
  EXPECT_LE(places_.size(), kMost);
  struct sigaction action {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, &before_);
  g_count = 0;
  for (const auto &[address, name] : places_) {
    EXPECT_EQ(memcmp(address, &kNop, sizeof kNop), 0) << name;
    g_address[g_count] = address;
    g_fired[g_count++] = 0;
    write_code(address, kTrap);
  }
}

ProbeTraps::~ProbeTraps() {
  for (const auto &[address, name] : places_)
    write_code(address, kNop);
  sigaction(SIGTRAP, &before_, nullptr);
}

size_t ProbeTraps::places(const std::string &name) const {
  size_t count = 0;
  for (const auto &[address, here] : places_)
    count += here == name;
  return count;
}

unsigned ProbeTraps::fired(const std::string &name) const {
  unsigned count = 0;
  size_t i = 0;
  for (const auto &[address, here] : places_)
    count += here == name ? g_fired[i++] : (i++, 0);
  return count;
}

} // namespace ovnitrace::test
