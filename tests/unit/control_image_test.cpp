// SPDX-License-Identifier: BSD-2-Clause
// What is read of the code of a program whose headers lie: user/control/image.
#include "emulator/base/regular_file.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "user/control/image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <elf.h>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace ovnitrace::control {
namespace {

/// The bytes of a program. A test changes its headers.
class ProgramBytes {
public:
  explicit ProgramBytes(const std::string &program) : bytes_(test::text_of(program)) {}
  /// The header of a section.
  Elf64_Shdr &section(const std::string &name) {
    const auto &start = at<Elf64_Ehdr>(0);
    for (size_t n = 0; n < start.e_shnum; n++) {
      auto &header = at<Elf64_Shdr>(start.e_shoff + n * sizeof(Elf64_Shdr));
      const auto &names = at<Elf64_Shdr>(start.e_shoff + start.e_shstrndx * sizeof(Elf64_Shdr));
      if (bytes_.c_str() + names.sh_offset + header.sh_name == name)
        return header;
    }
    throw std::runtime_error("no section " + name);
  }
  Elf64_Sym &symbol(const std::string &name) {
    const Elf64_Shdr &symbols = section(".symtab"), &names = section(".strtab");
    for (size_t n = 0; n < symbols.sh_size / sizeof(Elf64_Sym); n++) {
      auto &one = at<Elf64_Sym>(symbols.sh_offset + n * sizeof(Elf64_Sym));
      if (bytes_.c_str() + names.sh_offset + one.st_name == name)
        return one;
    }
    throw std::runtime_error("no symbol " + name);
  }
  /// The image that they are.
  Image image() const {
    const test::TempDir dir;
    std::ofstream(dir / "changed", std::ios::binary) << bytes_;
    return read_image("x", open_regular(dir / "changed").get()).value();
  }

private:
  template <class Value> Value &at(size_t offset) {
    return *reinterpret_cast<Value *>(bytes_.data() + offset);
  }
  std::string bytes_;
};

class ControlHeaders : public testing::Test {
protected:
  void SetUp() override {
    std::ofstream(dir_ / "app.s") << R"(
.text
.globl _start, tell, second, choose
.type _start, @function
_start: nop
  nop
.size _start, 2
.type tell, @function
tell: nop
  ret
.size tell, 2
.type choose, @gnu_indirect_function
choose: ret
.size choose, 1
.type second, @function
second: nop
  ret
.size second, 2
.section .note.GNU-stack,"",@progbits
)";
    make("-static -no-pie -Wl,-Ttext=0x401000,--build-id=none", "fixed");
  }
  /// Makes a program, and returns its path.
  std::string make(const std::string &options, const std::string &name) {
    const std::string build =
        "gcc -nostdlib " + (dir_ / "app.s") + " " + options + " -o " + dir_ / name;
    EXPECT_EQ(std::system(build.c_str()), 0) << build;
    return dir_ / name;
  }
  /// The image of the program after a change.
  Image changed(const std::function<void(ProgramBytes &)> &change) const {
    ProgramBytes bytes(dir_ / "fixed");
    change(bytes);
    return bytes.image();
  }

  const test::TempDir dir_;
};

bool has(const std::vector<Function> &functions, const std::string &name) {
  return std::any_of(functions.begin(), functions.end(),
                     [&](const Function &one) { return one.name == name; });
}

TEST_F(ControlHeaders, SymbolsThatAreNoFunctionsOfTheFileAreLeftOut) {
  EXPECT_TRUE(has(changed([](ProgramBytes &) {}).functions, "tell"));
  const Image image = changed([](ProgramBytes &bytes) {
    bytes.symbol("tell").st_shndx = SHN_UNDEF;
    bytes.symbol("second").st_value = 0;
    bytes.symbol("choose").st_shndx = SHN_UNDEF;
  });
  EXPECT_FALSE(has(image.functions, "tell")) << "of another file";
  EXPECT_FALSE(has(image.functions, "second"));
  EXPECT_TRUE(has(image.functions, "_start"));
  EXPECT_TRUE(image.indirect.empty());
}

TEST_F(ControlHeaders, AFunctionThatEndsBehindTheLastAddressHasNoBody) {
  const Image image = changed([](ProgramBytes &bytes) {
    bytes.symbol("tell").st_size = UINT64_MAX;
    bytes.symbol("second").st_size = UINT64_MAX - bytes.symbol("second").st_value;
  });
  ASSERT_EQ(image.bodies.size(), 2u);
  EXPECT_EQ(image.bodies[0], (Body{0x401000, 0x401002}));
  EXPECT_EQ(image.bodies[1].end, UINT64_MAX);
  EXPECT_TRUE(has(image.functions, "tell"));
}

TEST_F(ControlHeaders, SectionsThatLieAreLeftOut) {
  const auto text = [this](const std::function<void(Elf64_Shdr &)> &change) {
    return changed([&](ProgramBytes &bytes) { change(bytes.section(".text")); }).code.size();
  };
  EXPECT_EQ(text([](Elf64_Shdr &) {}), 1u);
  EXPECT_EQ(text([](Elf64_Shdr &one) { one.sh_addr = UINT64_MAX; }), 0u) << "behind the last";
  EXPECT_EQ(text([](Elf64_Shdr &one) { one.sh_flags |= SHF_COMPRESSED; }), 0u);
  EXPECT_EQ(text([](Elf64_Shdr &one) { one.sh_flags &= ~uint64_t(SHF_EXECINSTR); }), 0u);
  EXPECT_TRUE(changed([](ProgramBytes &bytes) {
                bytes.section(".symtab").sh_entsize = 0;
              }).functions.empty());
}

// The name of its debug file has as many.
TEST_F(ControlHeaders, ABuildIdHasAtMost64Bytes) {
  const auto build_id = [this](const std::string &id) {
    const std::string made = make("-shared -Wl,--build-id=0x" + id, "identified");
    return read_image("x", open_regular(made).get()).value().build_id;
  };
  EXPECT_EQ(build_id("0a1bff12"), "0a1bff12");
  EXPECT_EQ(build_id(std::string(128, 'b')), std::string(128, 'b'));
  EXPECT_EQ(build_id(std::string(136, 'b')), "");
  EXPECT_EQ(changed([](ProgramBytes &) {}).build_id, "");
}

} // namespace
} // namespace ovnitrace::control
