// SPDX-License-Identifier: BSD-2-Clause
// Notes of probes with long texts, and several notes of one place. elf_limits_test.cpp has others.
#include "emulator/base/regular_file.h"
#include "tests/unit/support/temp_dir.h"
#include "user/probe/elf_file.h"
#include "user/probe/find_probes.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#if defined(__x86_64__)

namespace ovnitrace {
namespace {

/// A note of a probe at a label. `arguments`: its last text, with its end.
struct HandNote {
  std::string place, name, arguments;
};

/// Makes a library with these notes.
std::string make(const test::TempDir &dir, const std::vector<HandNote> &notes) {
  std::ofstream file(dir / "notes.s");
  file << ".text\nfirst: nop\nsecond: nop\n.section .note.stapsdt,\"\",\"note\"\n";
  for (const HandNote &note : notes)
    file << ".4byte 8, 2f-1f, 3\n.asciz \"stapsdt\"\n1: .8byte " << note.place
         << ", 0, 0\n.asciz \"ovnitrace\", \"" << note.name << "\"\n.ascii \"" << note.arguments
         << "\"\n2: .balign 4\n";
  file << ".section .note.GNU-stack,\"\",@progbits\n";
  file.close();
  const std::string build = "gcc -shared -nostdlib -o " + (dir / "made") + " " + dir / "notes.s";
  EXPECT_EQ(std::system(build.c_str()), 0) << build;
  return dir / "made";
}

ElfFile read(const std::vector<HandNote> &notes) {
  const test::TempDir dir;
  return read_elf_file(open_regular(make(dir, notes)).get()).value();
}

std::vector<Probe> probes_of(const std::vector<HandNote> &notes) {
  return read(notes).probes;
}

TEST(ProbeNotes, HaveTextsOfAtMost4096Bytes) {
  EXPECT_EQ(probes_of({{"first", "enable", std::string(4096, 'x') + "\\0"}}).size(), 1u);
  EXPECT_EQ(probes_of({{"first", "enable", std::string(4097, 'x') + "\\0"}}).size(), 0u);
  EXPECT_EQ(probes_of({{"first", "enable", "x"}}).size(), 0u) << "it has no end";
}

TEST(ProbeNotes, OfOnePlaceAreOneProbeTheFirst) {
  const std::vector<Probe> probes = probes_of(
      {{"second", "disable", "\\0"}, {"first", "disable", "\\0"}, {"second", "enable", "\\0"}});
  ASSERT_EQ(probes.size(), 2u);
  EXPECT_EQ(probes[1].what.kind, uint32_t(USER_PROBE_DISABLE));
}

TEST(ProbeNotes, OfNamesThatAreNotKnownAreOthersProbes) {
  const ElfFile file = read({{"first", "other", "\\0"}, {"second", "enable", "\\0"}});
  EXPECT_EQ(file.probes.size(), 1u);
  EXPECT_EQ(file.not_understood, 0u);
}

TEST(ProbeNotes, AFileIsReportedThoughNoneOfItsProbesIsUnderstood) {
  const test::TempDir dir;
  const std::string path = make(dir, {{"first", "event", "x\\0"}});
  const auto files = find_probes({.files = {path}}).files;
  ASSERT_EQ(files.size(), 1u);
  EXPECT_TRUE(files[0].probes.empty());
  EXPECT_EQ(files[0].not_understood, 1u);
}

} // namespace
} // namespace ovnitrace

#endif
