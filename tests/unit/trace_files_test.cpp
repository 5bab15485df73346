// SPDX-License-Identifier: BSD-2-Clause
// Which files of a directory are a trace, and which folders are its parts.
#include "emulator/base/error.h"
#include "emulator/input/trace_dir.h"
#include "emulator/input/trace_parts.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

class TraceFiles : public ::testing::Test {
protected:
  void write(const std::string &name, const std::string &text = "") {
    test::TraceBuilder::write_file(dir / name, text.data(), text.size());
  }
  /// The names of the parts, without the directory.
  Texts parts() const {
    Texts names;
    for (const std::string &part : trace_parts(dir.path()))
      names.push_back(fs::path(part).filename());
    return names;
  }
  /// The missing files that `info` says there were, by CPU.
  std::vector<uint16_t> missing(const TraceInfo &info) const {
    std::vector<uint16_t> cpus;
    for (const ChunkInput &chunk : open_trace_dir(dir.path(), info, 0).chunks)
      if (chunk.missing)
        cpus.push_back(chunk.cpu);
    return cpus;
  }
  using Cpus = std::vector<uint16_t>;

  test::TempDir dir;
};

TEST_F(TraceFiles, HaveTheNumberOfACpuInFourDigitsOrMore) {
  for (const char *name :
       {"cpu0002.ftr", "cpu0001.ftr.zst", "cpu0001.ftr", "cpu0003.ftr.zst", "cpu003.ftr",
        "cpu65535.ftr", "cpu65536.ftr", "cpuabcd.ftr", "xcpu0004.ftr", "cpu0005.ftr.tmp",
        "cpu00000.ftr", "cpu0006.ftrx", "cpu-007.ftr", "cpu.ftr"})
    write(name);
  EXPECT_EQ(chunk_files(dir.path(), Codec::none),
            (Texts{"cpu00000.ftr", "cpu0001.ftr", "cpu0002.ftr", "cpu65535.ftr"}));
  EXPECT_EQ(chunk_files(dir.path(), Codec::zstd), Texts{"cpu0003.ftr.zst"})
      << "beside the plain file, the compressed one is not whole";
}

TEST_F(TraceFiles, AreInADirectoryWithOneOfThem) {
  EXPECT_FALSE(is_trace_dir(dir.path()));
  write("cpu0000.txt");
  EXPECT_FALSE(is_trace_dir(dir.path()));
  write("trace.json");
  EXPECT_TRUE(is_trace_dir(dir.path()));
  EXPECT_FALSE(is_trace_dir(dir / "trace.json")) << "a file";
  EXPECT_FALSE(is_trace_dir(dir / "none"));
  fs::remove(dir / "trace.json");
  write("cpu0000.ftr");
  EXPECT_TRUE(is_trace_dir(dir.path()));
}

TEST_F(TraceFiles, MissingOnesAreThoseOfTheCpusThatHadSome) {
  write("cpu0001.ftr", std::string(64, 'x'));
  TraceInfo info;
  EXPECT_EQ(missing(info), Cpus());
  info.cpus = 3;
  EXPECT_EQ(missing(info), (Cpus{0, 2}));
  info.topology = {1, 5};
  EXPECT_EQ(missing(info), Cpus{5}) << "the numbers have gaps";
  info.written = {{1, 9}, {2, 0}, {7, 1}};
  EXPECT_EQ(missing(info), Cpus{7}) << "the others recorded nothing";
  info.write_failed = true;
  EXPECT_EQ(missing(info), (Cpus{5, 7})) << "5 may have had something to record";
}

TEST_F(TraceFiles, AMissingOneHasItsNameAndItsCounts) {
  write("cpu0001.ftr", std::string(64, 'x'));
  TraceInfo info;
  info.written = {{0, 8}, {1, 9}};
  info.unwritten = {{0, {3, 2}}, {1, {5, 4}}, {2, {7, 6}}};
  info.host = "node";
  const HostInput host = open_trace_dir(dir.path(), info, -7);
  EXPECT_EQ(host.name, "node");
  EXPECT_EQ(host.path, dir.path());
  EXPECT_EQ(host.clock_offset_ns, -7);
  ASSERT_EQ(host.chunks.size(), 2u);
  const ChunkInput &gone = host.chunks[0], &there = host.chunks[1];
  EXPECT_EQ(gone.name, dir / "cpu0000.ftr");
  EXPECT_TRUE(gone.missing);
  EXPECT_EQ(gone.written, 8u);
  EXPECT_EQ(gone.unwritten, 3u);
  EXPECT_EQ(gone.unwritten_events, 2u);
  EXPECT_EQ(there.name, dir / "cpu0001.ftr");
  EXPECT_FALSE(there.missing);
  EXPECT_EQ(there.size, 64u);
  EXPECT_EQ(there.written, 9u);
  EXPECT_EQ(there.unwritten, 5u);
  EXPECT_EQ(there.unwritten_events, 4u);
  EXPECT_EQ(open_trace_dir(dir.path(), {}, 0).name, dir.path()) << "no host is known";
}

TEST_F(TraceFiles, PartsAreTheLastFoldersWithoutAGap) {
  EXPECT_EQ(parts(), Texts());
  for (const char *name :
       {"0001", "0002", "0004", "0005", "000000006", "0000000007", "007", "8", "0008x"})
    fs::create_directory(dir / name);
  EXPECT_EQ(parts(), (Texts{"0004", "0005", "000000006"}));
  write("0007");
  fs::create_directory_symlink(dir / "0001", dir / "0008");
  EXPECT_EQ(parts(), (Texts{"0004", "0005", "000000006"})) << "neither files nor links";
  fs::create_directory(dir / "0009");
  EXPECT_EQ(parts(), Texts{"0009"});
}

TEST_F(TraceFiles, APartThatEndedSaysWhichCpusItHas) {
  EXPECT_EQ(cpus_of_ended_part(dir.path()), std::nullopt);
  const auto cpus = [&](const std::string &streams) {
    write("part.json", R"({"version": 1, "streams": [)" + streams + "]}");
    return cpus_of_ended_part(dir.path());
  };
  EXPECT_EQ(cpus(""), std::nullopt);
  EXPECT_EQ(cpus(R"({"cpu": 3, "from": 0, "to": 64}, {"cpu": 65535, "from": 32, "to": 96},
                    {"cpu": 65536, "from": 0, "to": 0}, 7)"),
            (std::set<uint16_t>{3, 65535}));
  EXPECT_EQ(cpus(R"({"cpu": 3, "from": 0, "to": 64}, {"cpu": 4, "from": 0, "to": 0})"),
            std::nullopt)
      << "one has no end";
  write("part.json", R"({"version": 2, "streams": []})");
  try {
    cpus_of_ended_part(dir.path());
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_EQ(error.what(),
              dir / "part.json" + std::string(": no description of a part that this version can "
                                              "read"));
  }
}

/// Each part says which bytes of its files are of the whole. The first part counts from its start.
TEST_F(TraceFiles, PartsAreJoinedWithoutWhatALaterOneRepeats) {
  for (const char *part : {"0001", "0002"})
    fs::create_directory(dir / part);
  write("0001/cpu0000.ftr", "aaaaAAAA");
  write("0001/part.json",
        R"({"version": 1, "streams": [{"cpu": 0, "from": 4, "to": 6}]})"); // of a rotated whole
  write("0002/cpu0000.ftr", "bbbbBBBB");
  write("0002/cpu0003.ftr", "cccc");
  write("0002/part.json", R"({"version": 1, "streams": [{"cpu": 0, "from": 3, "to": 0}]})");
  const std::vector<ChunkInput> chunks = join_parts(dir.path(), trace_parts(dir.path()));
  ASSERT_EQ(chunks.size(), 2u);
  const auto bytes = [](const ChunkInput &chunk) {
    std::string text(chunk.size, '?');
    EXPECT_EQ(pread(chunk.fd.get(), text.data(), text.size(), 0), ssize_t(text.size()));
    return text;
  };
  EXPECT_EQ(chunks[0].cpu, 0);
  EXPECT_EQ(chunks[0].name, dir.path() + " (CPU 0 of all parts)");
  EXPECT_EQ(bytes(chunks[0]), "aaaaAAbBBBB");
  EXPECT_EQ(chunks[1].cpu, 3);
  EXPECT_EQ(bytes(chunks[1]), "cccc");
}

} // namespace
} // namespace ovnitrace
