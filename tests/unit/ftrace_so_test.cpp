// SPDX-License-Identifier: BSD-2-Clause
// The shared library: every primitive by its name, nothing else, and what holds in a fresh process.
#include "tests/unit/support/probe_traps.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>
#include <ovnitrace/ftrace.h>

#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <future>
#include <malloc.h>
#include <optional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

/// The library beside this program, with a state of its own.
class FtraceSo : public testing::Test {
protected:
  FtraceSo() { load(); }
  void load() {
    auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    library_ = dlopen((here.parent_path() / "libovnitrace.so.0").c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library_, nullptr) << dlerror();
  }
  ~FtraceSo() override { unload(); }
  void unload() {
    if (library_)
      dlclose(library_);
    library_ = nullptr;
  }
  template <typename Function> Function *get(const char *name, Function *) {
    return reinterpret_cast<Function *>(dlsym(library_, name));
  }
  void *library_;
};

#define GET(name) get(#name, &(name))

TEST_F(FtraceSo, HasEveryPrimitive) {
  for (const char *name : {"FTrace_enable",
                           "FTrace_disable",
                           "FTrace_chunk_create",
                           "FTrace_chunk_delete",
                           "FTrace_set_chunk_flags",
                           "FTrace_get_chunk_flags",
                           "FTrace_actual_chunk_select",
                           "FTrace_chunk_link",
                           "FTrace_get_first_chunk",
                           "FTrace_get_chunk_table",
                           "FTrace_compress_chunk",
                           "FTrace_send_chunk",
                           "FTrace_init_disk_writer",
                           "FTrace_disk_writer",
                           "FTrace_OSD_init_udp",
                           "FTrace_set_filter",
                           "TRACER_LOGEVENT",
                           "FTrace_strerror",
                           "FTrace_last_error",
                           "FTrace_clk_per_msec",
                           "tracer_logevent_",
                           "ftrace_enable_",
                           "ftrace_disable_",
                           "FTrace_fire",
                           "ftrace_fire_"})
    EXPECT_NE(dlsym(library_, name), nullptr) << name;
  EXPECT_EQ(dlsym(library_, "ovt_chunks"), nullptr); // private
}

TEST_F(FtraceSo, CallsWithoutSetUpSayWhatIsMissing) {
  auto *create = GET(FTrace_chunk_create);
  EXPECT_EQ(GET(FTrace_enable)(), FTRACE_E_NO_CHUNK);
  GET(TRACER_LOGEVENT)(FTrace_EVT_user_event_0, 0, 0);
  GET(FTrace_set_filter)(FTrace_filter_user, 1);
  EXPECT_EQ(GET(FTrace_disable)(), 0);
  ASSERT_EQ(create(16, 48, FTRACE_CHUNK_FLAG_FREE), 0);
  EXPECT_EQ(GET(FTrace_send_chunk)(0, 0, FTRACE_CHUNK_FLAG_FREE), FTRACE_E_NO_SENDER);
  GET(FTrace_disk_writer)(GET(FTrace_get_chunk_table)()[0]);
  EXPECT_EQ(GET(FTrace_last_error)(), FTRACE_E_NO_SENDER);
  EXPECT_EQ(GET(FTrace_chunk_delete)(0), 0);
}

/// Counts the probes that a tracer outside would see.
class FtraceProbes : public FtraceSo {
protected:
  FtraceProbes() { traps_.emplace(library_, "ovnitrace"); }
  ~FtraceProbes() override { traps_.reset(); }
  void SetUp() override {
    for (const char *name : {"event", "enable", "disable"})
      ASSERT_GT(traps_->places(name), 0u) << name;
  }
  unsigned events() const { return traps_->fired("event"); }

  std::optional<ovnitrace::test::ProbeTraps> traps_;
};

TEST_F(FtraceProbes, EachEventFiresOnceWhileTracingIsEnabled) {
  auto *log = GET(TRACER_LOGEVENT);
  log(FTrace_EVT_user_event_0, 0, 0);
  EXPECT_EQ(events(), 0u);
  GET(FTrace_enable)();
  EXPECT_EQ(traps_->fired("enable"), 1u);
  log(FTrace_EVT_user_event_0, 0, 1);
  log(FTrace_EVT_ipoint, 1, 0);
  EXPECT_EQ(events(), 2u);
  GET(FTrace_disable)();
  EXPECT_EQ(traps_->fired("disable"), 1u);
  log(FTrace_EVT_user_event_0, 0, 2);
  EXPECT_EQ(events(), 2u);
  GET(FTrace_enable)();
  log(FTrace_EVT_user_event_0, 0, 3);
  EXPECT_EQ(events(), 3u);
}

TEST_F(FtraceProbes, FireFiresAlsoWhileTracingIsDisabled) {
  auto *fire = GET(FTrace_fire);
  EXPECT_EQ(fire(FTrace_FIRE_start, 0, 0), FTRACE_OK);
  EXPECT_EQ(fire(FTrace_FIRE_threadid, 5, 1), FTRACE_OK);
  EXPECT_EQ(fire(3, 0, 0), FTRACE_E_ARGUMENT);
  EXPECT_EQ(fire(-1, 0, 0), FTRACE_E_ARGUMENT);
  EXPECT_EQ(fire(FTrace_FIRE_stop, -1, 0), FTRACE_E_ARGUMENT);
  const int start = FTrace_FIRE_start, self = 0, all = 1;
  EXPECT_EQ(GET(ftrace_fire_)(&start, &self, &all), FTRACE_OK);
  EXPECT_EQ(fire(FTrace_FIRE_stop, 0, 0), FTRACE_OK);
  const int mark = FTrace_FIRE_threadid, tid = 5, any = -1; // no two of them are valid for another
  EXPECT_EQ(GET(ftrace_fire_)(&mark, &tid, &any), FTRACE_OK);
  EXPECT_EQ(traps_->fired("fire"), 5u);
}

TEST_F(FtraceProbes, FiltersFireAlsoWhileTracingIsDisabled) {
  auto *filter = GET(FTrace_set_filter);
  filter(FTrace_filter_interrupt, 1); // before FTrace_enable
  EXPECT_EQ(events(), 1u);
  GET(FTrace_enable)();
  filter(FTrace_filter_interrupt, 0);
  EXPECT_EQ(events(), 2u);
  filter(FTrace_filter_user, 1);
  GET(TRACER_LOGEVENT)(FTrace_EVT_user_event_0, 0, 0);
  EXPECT_EQ(events(), 3u); // filtered
  GET(FTrace_disable)();
  filter(FTrace_filter_user, 0);
  EXPECT_EQ(events(), 4u);
  filter(FTrace_filter_user, 2);
  filter(0x09, 1);
  EXPECT_EQ(events(), 4u); // refused
}

size_t open_files() {
  using Directory = std::filesystem::directory_iterator;
  return size_t(std::distance(Directory("/proc/self/fd"), Directory()));
}

/// Bytes of address space.
size_t mapped() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * size_t(getpagesize());
}

TEST_F(FtraceSo, UnloadingFreesMemoryAndFiles) {
  constexpr int kSize = 8 << 20, kTimes = 20;
  ovnitrace::test::TempDir dir;
  std::string path = dir / "t.dat";
  char local[] = "127.0.0.1";
  const size_t files = open_files(), bytes = mapped();
  for (int i = 0; i < kTimes; i++) {
    ASSERT_EQ(GET(FTrace_chunk_create)(kSize, 48, FTRACE_CHUNK_FLAG_FREE), 0);
    ASSERT_EQ(GET(FTrace_OSD_init_udp)(0, nullptr, local), 0);
    ASSERT_EQ(GET(FTrace_init_disk_writer)(path.data(), 0, nullptr, nullptr), 0);
    ASSERT_EQ(GET(FTrace_send_chunk)(0, 0, 0), 0);
    std::thread([&] { EXPECT_NE(GET(FTrace_get_chunk_table)(), nullptr); }).join();
    EXPECT_NE(GET(FTrace_get_chunk_table)(), nullptr);
    unload();
    load();
  }
  EXPECT_EQ(open_files(), files);
  EXPECT_LT(mapped(), bytes + kTimes * size_t(kSize) / 2);
}

TEST_F(FtraceSo, UnloadingClosesTheSocketOfALibraryWithoutChunks) {
  char local[] = "127.0.0.1";
  const size_t files = open_files();
  ASSERT_EQ(GET(FTrace_OSD_init_udp)(0, nullptr, local), 0);
  EXPECT_EQ(open_files(), files + 1);
  unload();
  EXPECT_EQ(open_files(), files);
}

/// Bytes that the C library's heap has given and that are in use.
size_t heap() {
  return mallinfo2().uordblks;
}

// A table takes 16 KiB.
TEST_F(FtraceSo, UnloadingFreesTheTablesOfThreadsThatGoOn) {
  constexpr int kTimes = 40, kLeast = 10'000;
  const auto use = [this] {
    load();
    std::promise<void> called, unloaded;
    std::thread other([&] {
      EXPECT_NE(GET(FTrace_get_chunk_table)(), nullptr);
      called.set_value();
      unloaded.get_future().wait();
    });
    EXPECT_NE(GET(FTrace_get_chunk_table)(), nullptr);
    called.get_future().wait();
    unload();
    unloaded.set_value();
    other.join();
  };
  unload();
  use(); // what is allocated once
  const size_t before = heap();
  for (int i = 0; i < kTimes; i++)
    use();
  EXPECT_LT(heap(), before + size_t(kTimes) * kLeast);
}

TEST_F(FtraceSo, AThreadThatEndsGivesItsTableBack) {
  constexpr int kTimes = 40, kLeast = 10'000;
  const auto use = [this] {
    std::thread([this] { EXPECT_NE(GET(FTrace_get_chunk_table)(), nullptr); }).join();
  };
  use();
  const size_t before = heap();
  for (int i = 0; i < kTimes; i++)
    use();
  EXPECT_LT(heap(), before + size_t(kTimes) * kLeast / 2);
}

TEST_F(FtraceSo, AThreadThatEndsAfterItWasUnloaded) {
  std::promise<void> unloaded, called;
  std::thread thread([&] {
    EXPECT_NE(GET(FTrace_get_chunk_table)(), nullptr);
    called.set_value();
    unloaded.get_future().wait();
  });
  called.get_future().wait();
  unload();
  unloaded.set_value();
  thread.join();
}

TEST_F(FtraceSo, AThreadLogsWhileTheProgramExits) {
  const pid_t child = fork();
  if (child == 0) {
    auto *log = GET(TRACER_LOGEVENT);
    GET(FTrace_chunk_create)(1 << 20, 48, FTRACE_CHUNK_FLAG_FREE);
    GET(FTrace_actual_chunk_select)(0);
    GET(FTrace_enable)();
    std::promise<void> logs;
    std::thread([&] {
      log(FTrace_EVT_user_event_0, 0, 0);
      logs.set_value();
      for (;;)
        log(FTrace_EVT_user_event_0, 0, 0);
    }).detach();
    logs.get_future().wait();
    exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(FtraceSo, AProgramForksAfterItWasUnloaded) {
  for (int i = 0; i < 2; i++) {
    const pid_t child = fork();
    if (child == 0)
      _exit(0);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    if (i == 0)
      unload();
  }
}

} // namespace
