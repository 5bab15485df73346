// The shared library: every primitive by its name, nothing else, and what holds in a fresh process.
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>
#include <ovnitrace/ftrace.h>

#include <dlfcn.h>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// The library beside this program, with a state of its own.
class FtraceSo : public testing::Test {
protected:
  FtraceSo() {
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

#define GET(name) get(#name, &name)

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
                           "ftrace_disable_"})
    EXPECT_NE(dlsym(library_, name), nullptr) << name;
  EXPECT_EQ(dlsym(library_, "ovt_chunks"), nullptr); // private
}

TEST_F(FtraceSo, WithNothingSetUpEachSaysWhatIsMissing) {
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
