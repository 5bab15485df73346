// SPDX-License-Identifier: BSD-2-Clause
// Measures how fast PrvWriter formats: lines a second, ns a line, and the ratio to the floor. The
// floor copies the same bytes through a buffer and writes them in the same run.
//
//   prv_bench [lines in millions] [directory]

#include "emulator/prv/prv_writer.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace ovnitrace;

namespace {

constexpr uint32_t kThreads = 64, kCpus = 8;
constexpr int kRounds = 5;

double seconds_of(auto &&work) {
  auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A schedule as the replay gives it: at each time one thread leaves a CPU and one gets it.
uint64_t write_trace(const std::string &path, uint64_t lines, bool gzip) {
  PrvHeader header;
  header.cpus_per_node = {kCpus};
  header.tasks = {{std::vector<uint32_t>(kThreads, 1)}};
  std::vector<PrvRow> rows;
  for (uint32_t i = 0; i < kThreads; i++)
    rows.push_back({1, i + 1});
  PrvWriter writer(path, header, rows, {gzip});
  uint64_t time = 1000000000, seed = 1;
  for (uint64_t i = 0; i < lines / 2; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint32_t out = uint32_t(seed >> 33) % kThreads, in = (out + 1) % kThreads;
    uint32_t cpu = uint32_t(seed >> 40) % kCpus + 1;
    time += 500 + (seed >> 50);
    const TypedValue left[] = {{2, 4}, {0, 2}}, runs[] = {{cpu, 6}, {100000 + in, 2}, {1, 4}};
    writer.line(time, out, cpu, left);
    writer.line(time, in, cpu, runs);
  }
  writer.close(time);
  return std::filesystem::file_size(gzip ? path + ".gz" : path);
}

/// The floor: the bytes of `from`, already in memory, are copied to a buffer and written.
void copy_trace(const std::string &from, const std::string &to) {
  int in = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  int out = open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  size_t size = std::filesystem::file_size(from), buffer_size = 256 * 1024;
  auto *bytes =
      static_cast<char *>(mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, in, 0));
  if (in < 0 || out < 0 || bytes == MAP_FAILED) {
    perror("prv_bench: copy");
    exit(1);
  }
  auto buffer = std::make_unique<char[]>(buffer_size);
  for (size_t at = 0; at < size; at += buffer_size) {
    size_t part = std::min(buffer_size, size - at);
    memcpy(buffer.get(), bytes + at, part);
    if (write(out, buffer.get(), part) != ssize_t(part)) {
      perror("prv_bench: write");
      exit(1);
    }
  }
  munmap(bytes, size);
  close(in);
  close(out);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

} // namespace

int main(int argc, char **argv) {
  uint64_t lines = (argc > 1 ? strtoull(argv[1], nullptr, 10) : 4) * 1000000;
  std::string directory = argc > 2 ? argv[2] : std::filesystem::temp_directory_path().string();
  std::string path = directory + "/prv_bench." + std::to_string(getpid()) + ".prv";
  uint64_t size = 0, gzip_size = 0;
  std::vector<double> plain, copy, ratio;
  for (int round = 0; round < kRounds; round++) { // alternated, as machines are noisy
    unlink(path.c_str()); // to replace a file is slower: ext4 then writes it out at once
    plain.push_back(seconds_of([&] { size = write_trace(path, lines, false); }));
    copy.push_back(seconds_of([&] { copy_trace(path, path + ".copy"); }));
    ratio.push_back(plain.back() / copy.back());
    unlink((path + ".copy").c_str());
  }
  double gzip = seconds_of([&] { gzip_size = write_trace(path, lines, true); });
  unlink(path.c_str());
  unlink((path + ".gz").c_str());

  double count = double(lines);
  printf("prv: %llu lines, %.1f MB\n", static_cast<unsigned long long>(lines), double(size) / 1e6);
  printf(
      "prv: plain  %6.2f M lines/s  %5.1f ns/line  %.2f x copy of the same bytes (median of %d)\n",
      count / median(plain) / 1e6, median(plain) / count * 1e9, median(ratio), kRounds);
  printf("prv: copy   %6.2f M lines/s  %5.1f ns/line\n", count / median(copy) / 1e6,
         median(copy) / count * 1e9);
  printf("prv: gzip   %6.2f M lines/s  %5.1f ns/line  %.1f %% of the size\n", count / gzip / 1e6,
         gzip / count * 1e9, 100 * double(gzip_size) / double(size));
  return 0;
}
