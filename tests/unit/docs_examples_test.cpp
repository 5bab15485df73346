// SPDX-License-Identifier: BSD-2-Clause
// The programs in docs/user-events.md and docs/ftrace-library.md: those in C and C++ compile and
// run, those in other languages use names that the library has.
#include "tests/unit/support/project_file.h"
#include "tests/unit/support/temp_dir.h"

#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <vector>

namespace ovnitrace::test {
namespace {

namespace fs = std::filesystem;

struct Example {
  std::string language, text;
};

std::vector<Example> examples_of(const std::string &name) {
  const std::string page = test::project_file("docs/" + name);
  std::vector<Example> all;
  const std::string fence = "```";
  for (size_t at = 0; (at = page.find(fence, at)) != page.npos;) {
    const size_t line = page.find('\n', at), end = page.find(fence, line);
    if (end == page.npos)
      break;
    all.push_back({page.substr(at + 3, line - at - 3), page.substr(line + 1, end - line - 1)});
    at = end + 3;
  }
  return all;
}

fs::path build() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path();
}

void expect_runs(const Example &example) {
  TempDir dir;
  const bool cpp = example.language == "cpp";
  const std::string source = dir / (cpp ? "app.cpp" : "app.c");
  std::ofstream(source) << example.text;
  const std::string include = fs::absolute(fs::path(__FILE__).parent_path() / "../../include");
#ifdef __SANITIZE_ADDRESS__
  const std::string as_library = " -fsanitize=address"; // its runtime must be loaded first
#else
  const std::string as_library;
#endif
  const std::string compile = (cpp ? "g++" : "gcc") + as_library + " -Wall -Wextra -Werror -I'" +
                              include + "' -o '" + dir / "app" + "' '" + source + "' -L'" +
                              build().string() + "' -lovnitrace -Wl,-rpath,'" + build().string() +
                              "'";
  ASSERT_EQ(std::system(compile.c_str()), 0) << compile << "\n" << example.text;
  const std::string run = "cd '" + dir.path() + "' && ./app";
  EXPECT_EQ(std::system(run.c_str()), 0) << example.text;
}

void expect_names(const Example &example, void *library) {
  const std::regex name(R"re(name="(\w+)"|ftrace\.(\w+)\()re");
  size_t found = 0;
  for (std::sregex_iterator at(example.text.begin(), example.text.end(), name), end; at != end;
       ++at, found++) {
    const std::string symbol = (*at)[1].matched ? (*at)[1] : (*at)[2];
    EXPECT_NE(dlsym(library, symbol.c_str()), nullptr) << symbol;
  }
  EXPECT_GE(found, 2u) << example.text;
}

TEST(DocsExamples, CompileAndRun) {
  size_t programs = 0;
  for (const char *page : {"user-events.md", "ftrace-library.md"})
    for (const Example &example : examples_of(page))
      if (example.language == "c" || example.language == "cpp") {
        expect_runs(example);
        programs++;
      }
  EXPECT_EQ(programs, 3u);
}

TEST(DocsExamples, ProgramsInOtherLanguagesUseNamesOfTheLibrary) {
  void *library = dlopen((build() / "libovnitrace.so.0").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  size_t programs = 0;
  for (const Example &example : examples_of("user-events.md"))
    if (example.language == "fortran" || example.language == "python") {
      expect_names(example, library);
      programs++;
    }
  EXPECT_EQ(programs, 2u);
  dlclose(library);
}

} // namespace
} // namespace ovnitrace::test
