// SPDX-License-Identifier: BSD-2-Clause
// What a memory cgroup leaves: user/select/memory_limit.
#include "tests/unit/support/temp_dir.h"
#include "user/select/memory_limit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace ovnitrace {
namespace {

class MemoryLimit : public testing::Test {
protected:
  void write(const std::string &name, const std::string &text) {
    const std::string path = dir_ / name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
  }
  std::optional<uint64_t> left() { return memory_left(dir_ / "cgroup", dir_ / "mountinfo"); }
  /// A line of mountinfo.
  std::string mount(const std::string &root, const std::string &rest) {
    return "41 31 0:38 " + root + " " + (dir_ / "fs") + " rw,relatime shared:9 - " + rest + "\n";
  }
  test::TempDir dir_;
};

TEST_F(MemoryLimit, IsTheLeastOfAllCgroupsAbove) {
  write("cgroup", "0::/slice/unit\n");
  write("mountinfo", "23 1 8:1 / / rw - ext4 /dev/vda rw\n" + mount("/", "cgroup2 cgroup2 rw"));
  EXPECT_EQ(left(), std::nullopt);
  write("fs/slice/unit/memory.max", "max\n");
  write("fs/slice/unit/memory.current", "1000\n");
  EXPECT_EQ(left(), std::nullopt);
  write("fs/slice/memory.max", "67108864\n");
  write("fs/slice/memory.current", "30000000\n");
  write("fs/slice/memory.stat", "anon 20000000\nfile 10000000\nkernel 1\n");
  EXPECT_EQ(left(), 67108864u - 20000000u) << "page cache can be given back";
  write("fs/slice/memory.stat", "anon 15000000\nfile 10000000\nkernel 1\nshmem 4000000\n");
  EXPECT_EQ(left(), 67108864u - 24000000u) << "files of tmpfs cannot";
  write("fs/slice/unit/memory.max", "2000\n");
  EXPECT_EQ(left(), 1000u);
  write("fs/slice/unit/memory.current", "3000\n");
  EXPECT_EQ(left(), 0u);
}

TEST_F(MemoryLimit, IsReadFromCgroupVersion1) {
  write("cgroup", "5:cpu:/\n4:hugetlb,memory:/docker/abc\n0::/\n");
  write("mountinfo", mount("/docker/abc", "cgroup cgroup rw,memory"));
  write("fs/memory.limit_in_bytes", "9223372036854771712\n");
  write("fs/memory.usage_in_bytes", "5000\n");
  EXPECT_EQ(left(), std::nullopt);
  write("fs/memory.limit_in_bytes", "8000\n");
  write("fs/memory.stat", "cache 1\ntotal_cache 2000\n");
  EXPECT_EQ(left(), 5000u);
  write("fs/memory.stat", "cache 1\nshmem 1\ntotal_cache 2000\ntotal_shmem 500\n");
  EXPECT_EQ(left(), 4500u);
}

} // namespace
} // namespace ovnitrace
