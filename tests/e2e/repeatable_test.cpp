// SPDX-License-Identifier: BSD-2-Clause
// The outputs of a capture are the same bytes in every time zone and locale, and on any number of
// CPUs. Only what people read, as `info` without --json, has local times.
#include "tests/e2e/support/e2e.h"

#include <filesystem>
#include <sched.h>

namespace ovnitrace::test {

namespace {

struct Place {
  const char *name, *time_zone, *locale;
  bool one_cpu;
};

void use_one_cpu() {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    _exit(127);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
    if (CPU_ISSET(cpu, &allowed))
      CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0)
    _exit(127);
}

/// All files below a directory, by their path in it.
std::map<std::string, std::string> files_in(const std::string &directory) {
  std::map<std::string, std::string> files;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(directory))
    if (entry.is_regular_file())
      files[std::filesystem::relative(entry.path(), directory)] = read_text(entry.path());
  return files;
}

} // namespace

class Repeatable : public CaptureTest {
protected:
  void SetUp() override {
    CaptureTest::SetUp();
    if (IsSkipped())
      return;
    // Without the package locales the tests run in C there, too.
    run({.argv = {"localedef", "-i", "de_DE", "-f", "UTF-8", path("de_DE.UTF-8")}});
    record({installed("pingpong"), "300"}, {"--filter", "+irq,timer", "--stacks"});
  }

  /// Returns the files that the commands write, and the output of the commands that write none.
  std::map<std::string, std::string> make_all(const Place &place) {
    const std::string out = path(place.name);
    std::filesystem::create_directory(out);
    std::map<std::string, std::string> printed;
    const auto make = [&](const char *what, std::vector<std::string> arguments) {
      arguments.insert(arguments.begin(), ovnitrace());
      const Outcome outcome =
          run({.argv = arguments,
               .env = {{"TZ", place.time_zone}, {"LC_ALL", place.locale}, {"LOCPATH", directory()}},
               .cwd = out,
               .in_child = place.one_cpu ? use_one_cpu : nullptr});
      EXPECT_EQ(outcome.status(), 0) << what << ": " << outcome.err;
      printed[what] = outcome.out;
    };
    make("convert", {"convert", trace(), "-o", "prv"});
    make("convert --gzip", {"convert", "--gzip", trace(), "-o", "prv.gz"});
    make("info --json", {"info", "--json", trace()});
    make("dump", {"dump", trace()});
    make("why", {"why", "--critical-path", trace()});
    make("report", {"report", trace(), "-o", "report.html"});
    make("plot", {"plot", trace(), "-o", "plot.svg"});
    for (const char *format :
         {"ovni", "perfetto", "sqlite", "csv", "folded", "pprof", "speedscope"})
      make(format, {"export", "--to", format, trace(), "-o", std::string("export.") + format});
    std::map<std::string, std::string> files = files_in(out);
    files.merge(printed);
    return files;
  }
};

TEST_F(Repeatable, OutputsAreTheSameBytesEverywhere) {
  const auto first = make_all({"first", "UTC", "C", false});
  EXPECT_GT(first.size(), 20u);
  for (const Place &place : {Place{"again", "UTC", "C", false},
                             Place{"elsewhere", "Pacific/Chatham", "de_DE.UTF-8", false},
                             Place{"one CPU", "America/St_Johns", "C.UTF-8", true}}) {
    SCOPED_TRACE(place.name);
    const auto other = make_all(place);
    for (const auto &[name, bytes] : first)
      EXPECT_TRUE(other.contains(name) && other.at(name) == bytes) << name;
    EXPECT_EQ(other.size(), first.size());
  }
}

} // namespace ovnitrace::test
