// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace plot` of a real capture: a figure, a terminal, a pipe.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/terminal.h"
#include "tests/unit/support/read_svg.h"

namespace ovnitrace::test {

class Plotted : public CaptureTest {};

TEST_F(Plotted, CapturesBecomeFigures) {
  record({installed("sample")});
  const std::string svg = path("run.svg");
  const Outcome outcome = run({.argv = {ovnitrace(), "plot", trace(), "-o", svg, "--arrows"}});
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  const std::string text = read_text(svg);
  EXPECT_TRUE(is_well_formed(text));
  EXPECT_LT(text.size(), 500'000u);
  const auto rows = read_rows(text, 1000);
  ASSERT_EQ(rows.size(), 10u);
  for (const auto &[title, row] : rows)
    EXPECT_TRUE(row.contains("running")) << title;
  EXPECT_NE(text.find("marker-end"), std::string::npos) << "arrows";
}

TEST_F(Plotted, AFigureGoesThroughAPipe) {
  record({"true"});
  const Outcome outcome =
      run({.argv = {ovnitrace(), "plot", trace(), "-o", "-"}, .cwd = directory()});
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_TRUE(is_well_formed(outcome.out));
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(names_in(directory()).size(), 1u) << "only the trace";
}

TEST_F(Plotted, CapturesAreDrawnForTheTerminalOrThePipe) {
  record({installed("sample")});
  const Outcome plain = run({.argv = {ovnitrace(), "plot", trace(), "--rows", "3"}});
  EXPECT_EQ(plain.status(), 0) << plain.err;
  EXPECT_EQ(plain.out.find('\x1b'), std::string::npos) << "no colours in a pipe";
  EXPECT_NE(plain.out.find("7 threads that ran or waited less"), std::string::npos) << plain.out;
  for (const std::string &line : lines_of(plain.out))
    EXPECT_LE(line.size(), 100u) << line;
  Terminal terminal({ovnitrace(), "plot", "--no-pager", trace()});
  EXPECT_EQ(terminal.wait(), 0);
  EXPECT_NE(terminal.printed().find("\x1b[38;"), std::string::npos);
}

TEST_F(Plotted, FailuresLeaveNothing) {
  record({"true"});
  const auto status = [&](const std::vector<std::string> &arguments) {
    std::vector<std::string> argv = {ovnitrace(), "plot", trace()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return run({.argv = argv}).status();
  };
  EXPECT_EQ(status({"-o", path("no/such.svg")}), 1);
  EXPECT_EQ(status({"-o", "/dev/full"}), 1);
  EXPECT_EQ(status({"-o", path("figure.png")}), 2);
  EXPECT_EQ(status({"--arrows"}), 2);
  EXPECT_EQ(status({"--rows", "0"}), 2);
  EXPECT_EQ(names_in(directory()).size(), 1u) << "only the trace";
}

} // namespace ovnitrace::test
