// SPDX-License-Identifier: BSD-2-Clause
#include "tests/e2e/support/e2e.h"

#include "tests/e2e/support/strays.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace fs = std::filesystem;

namespace ovnitrace::test {

namespace {

std::string make_directory(const char *name) {
  std::string made = fs::temp_directory_path() / name;
  if (!mkdtemp(made.data()) || chmod(made.c_str(), 0755) != 0)
    throw std::runtime_error("cannot make " + made);
  return made;
}

void remove_all(const std::string &path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

/// Where the copies are, gone with this program.
struct Installation {
  const pid_t owner = getpid();
  const std::string directory = make_directory("ovnitrace-e2e-XXXXXX");
  ~Installation() {
    if (getpid() == owner)
      remove_all(directory);
  }
};

const passwd &nobody() {
  const passwd *user = getpwnam("nobody");
  if (!user)
    throw std::runtime_error("this machine has no user nobody");
  return *user;
}

} // namespace

std::string installed(const std::string &name) {
  static const Installation installation;
  const std::string copy = installation.directory + "/" + name;
  if (!fs::exists(copy)) {
    const fs::path tests = fs::read_symlink("/proc/self/exe").parent_path();
    const bool command = name == "ovnitrace" || name.starts_with("libovnitrace");
    fs::copy_file(command ? tests.parent_path() / name : tests / "programs" / name, copy);
    chmod(copy.c_str(), 0755);
  }
  return copy;
}

Command record_command(const std::string &trace, const std::vector<std::string> &program,
                       const std::vector<std::string> &options) {
  Command command;
  command.argv = {ovnitrace(), "record", "-o", trace};
  command.argv.insert(command.argv.end(), options.begin(), options.end());
  if (!program.empty())
    command.argv.push_back("--");
  command.argv.insert(command.argv.end(), program.begin(), program.end());
  return command;
}

uid_t nobody_uid() {
  return nobody().pw_uid;
}
gid_t nobody_gid() {
  return nobody().pw_gid;
}

void become_nobody() {
  const gid_t gid = nobody_gid();
  const uid_t uid = nobody_uid();
  if (setgroups(0, nullptr) != 0 || setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0)
    _exit(202);
}

bool exists(const std::string &path) {
  return fs::exists(fs::symlink_status(path));
}

std::string read_text(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(file.good()) << "cannot read " << path;
  return text.str();
}

void write_text(const std::string &path, const std::string &text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  EXPECT_TRUE(file.good()) << "cannot write " << path;
}

std::vector<std::string> names_in(const std::string &directory) {
  std::vector<std::string> names;
  for (const auto &entry : fs::directory_iterator(directory))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

CaptureTest::CaptureTest() : directory_(make_directory("ovnitrace-test-XXXXXX")) {}
CaptureTest::~CaptureTest() {
  kill_strays();
  remove_all(directory_);
}

void CaptureTest::SetUp() {
  if (geteuid() != 0)
    GTEST_SKIP() << "capturing needs root, and these tests are not run as root";
}

Outcome CaptureTest::record(const std::vector<std::string> &program,
                            const std::vector<std::string> &options, int status) {
  const Outcome outcome = run(record_command(trace(), program, options));
  EXPECT_EQ(outcome.status(), status) << outcome.err;
  return outcome;
}

} // namespace ovnitrace::test
