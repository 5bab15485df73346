// SPDX-License-Identifier: BSD-2-Clause
// The directory of a trace that is not kept: user/cli/scratch_directory.
#include "user/cli/scratch_directory.h"

#include "emulator/base/error.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace ovnitrace {
namespace {

using test::TempDir;
namespace fs = std::filesystem;

/// Sets TMPDIR, or removes it, while it lives.
class Tmpdir {
public:
  explicit Tmpdir(const char *path) {
    if (const char *before = std::getenv("TMPDIR"))
      before_ = before;
    path ? setenv("TMPDIR", path, 1) : unsetenv("TMPDIR");
  }
  ~Tmpdir() { before_ ? setenv("TMPDIR", before_->c_str(), 1) : unsetenv("TMPDIR"); }
  Tmpdir(const Tmpdir &) = delete;
  Tmpdir &operator=(const Tmpdir &) = delete;

private:
  std::optional<std::string> before_;
};

TEST(ScratchDirectory, IsInItsPlaceAndGoneAtTheEnd) {
  const TempDir dir, other;
  for (const char *tmpdir : {static_cast<const char *>(nullptr), "", other.path().c_str()}) {
    const Tmpdir wanted(tmpdir);
    const std::string place = tmpdir && *tmpdir ? other.path() : dir.path();
    std::string path;
    {
      const ScratchDirectory scratch(dir.path().c_str());
      path = scratch.path();
      EXPECT_TRUE(path.starts_with(place + "/ovnitrace-")) << path;
      EXPECT_TRUE(fs::is_directory(path));
      fs::create_directory(path + "/trace");
      std::ofstream(path + "/trace/file") << "text";
    }
    EXPECT_FALSE(fs::exists(path));
    EXPECT_TRUE(fs::exists(place));
  }
}

TEST(ScratchDirectory, SaysWhereItCannotBe) {
  const Tmpdir none(nullptr);
  const TempDir dir;
  try {
    const ScratchDirectory scratch((dir / "no").c_str());
    FAIL();
  } catch (const Error &error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("cannot make a directory for the trace as " + (dir / "no") +
                                 "/ovnitrace-"))
        << text;
    EXPECT_TRUE(text.ends_with(": No such file or directory; name another place with TMPDIR"))
        << text;
  }
}

/// Returns how a child ended that has a scratch directory in `place` and then calls `act`.
template <typename Act> int status_of_child(const std::string &place, Act act) {
  const pid_t child = fork();
  if (child == 0) {
    {
      ScratchDirectory scratch(place.c_str());
      scratch.remove_on_signal();
      act();
    }
    _exit(fs::is_empty(place) ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(ScratchDirectory, IsGoneBeforeASignalEndsUs) {
  const Tmpdir none(nullptr);
  const TempDir dir;
  for (const int signal : {SIGTERM, SIGINT}) {
    const int status = status_of_child(dir.path(), [&] {
      kill(getpid(), signal);
      for (;;)
        pause();
    });
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_TRUE(fs::is_empty(dir.path()));
  }
  const int status = status_of_child(dir.path(), [] {});
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "without a signal it is gone, too, and ends nobody";
}

} // namespace
} // namespace ovnitrace
