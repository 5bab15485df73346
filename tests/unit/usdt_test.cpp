// SPDX-License-Identifier: BSD-2-Clause
// The probes of user events: the notes that a tracer finds in this very program, as ELF has them.
#include <ovnitrace/user_event.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <link.h>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace {

using ovnitrace::Section;

struct Note {
  uint64_t pc, base, semaphore;
  std::string provider, name, arguments;
};

struct SectionBytes {
  uint64_t address = 0;
  std::string bytes;
};

/// This program's file, and the sections in it by name.
struct Program {
  std::string file;
  std::map<std::string, SectionBytes> sections;

  Program() {
    std::ifstream in("/proc/self/exe", std::ios::binary);
    file.assign(std::istreambuf_iterator<char>(in), {});
    const auto header = at<ElfW(Ehdr)>(0);
    const auto names = section_header(header, header.e_shstrndx);
    for (unsigned i = 0; i < header.e_shnum; i++) {
      const auto section = section_header(header, i);
      const char *name = file.data() + names.sh_offset + section.sh_name;
      const bool has_bytes = section.sh_type != SHT_NOBITS;
      sections[name] = {section.sh_addr,
                        has_bytes ? file.substr(section.sh_offset, section.sh_size) : ""};
    }
  }
  template <typename T> T at(size_t offset) const {
    T value;
    memcpy(&value, file.data() + offset, sizeof value);
    return value;
  }
  ElfW(Shdr) section_header(const ElfW(Ehdr) & header, unsigned index) const {
    return at<ElfW(Shdr)>(header.e_shoff + index * sizeof(ElfW(Shdr)));
  }
};

size_t align4(size_t size) {
  return (size + 3) & ~size_t(3);
}

/// Every note of ovnitrace's; what is malformed fails.
std::vector<Note> read_notes(const std::string &bytes) {
  std::vector<Note> notes;
  for (size_t at = 0; at < bytes.size();) {
    ElfW(Nhdr) header;
    EXPECT_LE(at + sizeof header, bytes.size());
    memcpy(&header, bytes.data() + at, sizeof header);
    at += sizeof header;
    const std::string owner = bytes.substr(at, header.n_namesz);
    at += align4(header.n_namesz);
    const std::string body = bytes.substr(at, header.n_descsz);
    at += align4(header.n_descsz);
    EXPECT_EQ(owner, std::string("stapsdt\0", 8));
    EXPECT_EQ(header.n_type, 3u);
    EXPECT_GE(body.size(), 3 * sizeof(uint64_t) + 3);
    Note note;
    memcpy(&note.pc, body.data(), 8);
    memcpy(&note.base, body.data() + 8, 8);
    memcpy(&note.semaphore, body.data() + 16, 8);
    const char *text = body.data() + 24;
    note.provider = text;
    note.name = text += note.provider.size() + 1;
    note.arguments = text += note.name.size() + 1;
    EXPECT_EQ(text + note.arguments.size() + 1, body.data() + body.size()) << note.name;
    if (note.provider == "ovnitrace")
      notes.push_back(note);
  }
  return notes;
}

uint64_t load_bias() {
  uint64_t bias = 0;
  dl_iterate_phdr( // the program itself comes first
      [](dl_phdr_info *info, size_t, void *out) {
        *static_cast<uint64_t *>(out) = info->dlpi_addr;
        return 1;
      },
      &bias);
  return bias;
}

/// Probes of which the arguments are known, since they are constants.
__attribute__((noinline)) void known_probes() {
  TRACER_LOGEVENT(FTrace_EVT_user_event_7, 54321, 0xfffffff0u);
  Section section(424242);
  FTrace_set_filter(9, 4);
  FTrace_fire(3, 77, 5);
  FTrace_enable();
  FTrace_disable();
}

TEST(Usdt, NotesTellProviderNameAndThreeArguments) {
  known_probes();
  const Program program;
  const auto notes = read_notes(program.sections.at(".note.stapsdt").bytes);
  const std::regex arguments(
#if defined(__x86_64__)
      R"(4@(%\w+|\$-?\d+) 4@(%\w+|\$-?\d+) 4@(%\w+|\$-?\d+))"
#else
      R"(4@(x\d+|-?\d+) 4@(x\d+|-?\d+) 4@(x\d+|-?\d+))"
#endif
  );
  std::map<std::string, int> seen;
  for (const Note &note : notes) {
    seen[note.name]++;
    EXPECT_EQ(note.semaphore, 0u);
    if (note.name == "event" || note.name == "fire")
      EXPECT_TRUE(std::regex_match(note.arguments, arguments)) << note.arguments;
    else
      EXPECT_EQ(note.arguments, "") << note.name;
  }
  EXPECT_GE(seen["event"], 5);  // four here, one in the library
  EXPECT_GE(seen["enable"], 2); // each
  EXPECT_GE(seen["disable"], 2);
  EXPECT_GE(seen["fire"], 2); // one here, one in the library
  EXPECT_EQ(seen.size(), 4u);
}

TEST(Usdt, EachNotePointsToANopInTheRunningProgram) {
  const Program program;
  const auto &base = program.sections.at(".stapsdt.base");
  const uint64_t bias = load_bias();
  for (const Note &note : read_notes(program.sections.at(".note.stapsdt").bytes)) {
    EXPECT_EQ(note.base, base.address); // not prelinked: addresses are as they stand
    const auto *code = reinterpret_cast<const unsigned char *>(bias + note.pc);
#if defined(__x86_64__)
    EXPECT_EQ(*code, 0x90) << note.name << " " << note.arguments;
#elif defined(__aarch64__)
    EXPECT_EQ(memcmp(code, "\x1f\x20\x03\xd5", 4), 0) << note.name << " " << note.arguments;
#endif
  }
}

#if defined(__OPTIMIZE__)
TEST(Usdt, ConstantArgumentsCostNoInstruction) {
  const Program program;
  std::vector<std::string> all;
  for (const Note &note : read_notes(program.sections.at(".note.stapsdt").bytes))
    all.push_back(note.arguments);
#if defined(__x86_64__)
  EXPECT_NE(std::find(all.begin(), all.end(), "4@$121 4@$54321 4@$-16"), all.end());
  EXPECT_NE(std::find(all.begin(), all.end(), "4@$217 4@$0 4@$424242"), all.end()); // begin
  EXPECT_NE(std::find(all.begin(), all.end(), "4@$233 4@$0 4@$424242"), all.end()); // end
  EXPECT_NE(std::find(all.begin(), all.end(), "4@$9 4@$4 4@$0"), all.end());        // set_filter
  EXPECT_NE(std::find(all.begin(), all.end(), "4@$3 4@$77 4@$1"), all.end());       // fire
#else
  EXPECT_NE(std::find(all.begin(), all.end(), "4@217 4@0 4@424242"), all.end());
#endif
}
#endif

} // namespace
