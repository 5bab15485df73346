// SPDX-License-Identifier: BSD-2-Clause
// What of libbpf's messages is kept, and what is in the debug log: user/bpf/bpf_log,
// user/bpf/mapped_array.
#include "user/bpf/bpf_log.h"

#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "emulator/base/unique_fd.h"
#include "user/bpf/mapped_array.h"

#include <ovnitrace/trigger.h>

#include "trigger.skel.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <memory>
#include <string>

namespace ovnitrace {
namespace {

using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

class BpfLog : public testing::Test {
protected:
  BpfLog() {
    collect_bpf_log();
    collect_ = libbpf_set_print(nullptr);
  }
  ~BpfLog() override { set_debug_log(false); }
  /// As libbpf prints.
  void say(const std::string &text, libbpf_print_level level = LIBBPF_WARN) {
    say_arguments(level, "%s", text.c_str());
  }
  /// What is collected, as it is in the message of an error.
  static std::string collected() {
    try {
      fail_bpf("load it", EBUSY);
    } catch (const Error &error) {
      const std::string text = error.what(),
                        start = "cannot load it: Device or resource busy\nthe kernel and libbpf "
                                "say:\n";
      return text.starts_with(start) ? text.substr(start.size()) : "";
    }
  }

private:
  void say_arguments(libbpf_print_level level, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    collect_(level, format, arguments);
    va_end(arguments);
  }
  libbpf_print_fn_t collect_;
};

TEST_F(BpfLog, KeepsTheEndOfAMessageThatIsLong) {
  const std::string most(4096, 'a');
  say(most);
  EXPECT_EQ(collected(), most);
  collect_bpf_log();
  say("b" + most);
  EXPECT_EQ(collected(), "…" + most);
}

TEST_F(BpfLog, TakesNoMoreMessagesBeyondItsLimit) {
  for (int n = 0; n < 4; n++)
    say(std::string(4096, 'a'));
  say("b");
  EXPECT_EQ(collected().size(), 16384u + 1) << "it was not over the limit";
  say("c");
  EXPECT_EQ(collected().size(), 16384u + 1);
}

TEST_F(BpfLog, KeepsWhatIsOfDebuggingForTheDebugLogOnly) {
  CaptureStderr();
  say("first\n", LIBBPF_DEBUG);
  say("second\n", LIBBPF_INFO);
  set_debug_log(true);
  say("third\n\n", LIBBPF_DEBUG);
  say("fourth", LIBBPF_WARN);
  EXPECT_EQ(GetCapturedStderr(), "ovnitrace: debug: third\novnitrace: debug: fourth\n");
  EXPECT_EQ(collected(), "second\nfourth");
}

TEST_F(BpfLog, AVerdictIsBetterThanTheWordsOfAnError) {
  EXPECT_EQ(why_refused(EACCES), "Permission denied");
  say("R1 is not a pointer\nprocessed 3 insns\n");
  EXPECT_EQ(why_refused(EACCES), "R1 is not a pointer");
}

TEST_F(BpfLog, HasThePartsOfAnObject) {
  const std::unique_ptr<trigger_bpf, decltype(&trigger_bpf__destroy)> object(trigger_bpf__open(),
                                                                             trigger_bpf__destroy);
  ASSERT_TRUE(object);
  bpf_program__set_autoload(object->progs.trigger_on_wakeup, false);
  const std::string instructions =
      std::to_string(bpf_program__insn_cnt(object->progs.trigger_on_switch));
  set_debug_log(true);
  CaptureStderr();
  log_bpf_object(object->obj);
  const std::string text = GetCapturedStderr();
  for (const std::string line : {"program trigger_on_wakeup (tp_btf/sched_wakeup): not loaded",
                                 "map regions: 1 entries, keys of 4 and values of 8 bytes"})
    EXPECT_NE(text.find("ovnitrace: debug: " + line + "\n"), text.npos) << text;
  EXPECT_NE(text.find("program trigger_on_switch (tp_btf/sched_switch): " + instructions +
                      " instructions\n"),
            text.npos)
      << text;
  EXPECT_EQ(skipped_runs_of(object->obj), 0u) << "nothing is loaded";
}

TEST(MappedArray, IsTheMemoryOfAMap) {
  const UniqueFd file(memfd_create("map", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(file.get(), 4096), 0);
  {
    const auto values = map_array<uint64_t>(file.get(), 3, "map the values");
    values[2] = 77;
    EXPECT_EQ(values.get_deleter().bytes, 24u);
  }
  const auto values = map_array<const uint64_t>(file.get(), 3, "map the values");
  EXPECT_EQ(values[2], 77u);
  EXPECT_EQ(values[1], 0u);
}

TEST(MappedArray, OfNoMapIsAnError) {
  collect_bpf_log();
  libbpf_set_print(nullptr);
  try {
    map_array<uint64_t>(-1, 3, "map the values");
    FAIL();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "cannot map the values: Bad file descriptor");
  }
}

// A map that is frozen for writers can still be read.
TEST(MappedArray, OfConstantsCanBeReadOnly) {
  const UniqueFd file(memfd_create("map", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(file.get(), 4096), 0);
  ASSERT_EQ(fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  const std::string reopened = "/proc/self/fd/" + std::to_string(file.get());
  const UniqueFd read_only(open(reopened.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(map_array<const uint64_t>(read_only.get(), 3, "map")[0], 0u);
  EXPECT_THROW(map_array<uint64_t>(read_only.get(), 3, "map"), Error);
}

} // namespace
} // namespace ovnitrace
