// SPDX-License-Identifier: BSD-2-Clause
// Runs tracers that only store records (bare_tracers.bpf.c). A thread with real-time priority
// writes the records to a file unchanged. This is the least that capturing can cost.
#pragma once

#include "user/chunk/service_thread.h"
#include "user/ring/ring_buffer.h"

#include "tests/bench/bare_record.h"
#include "tests/bench/bare_tracers.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

/// Traces from its construction to stop(). Exits when the kernel refuses.
class BareTracer {
public:
  enum class Kind { empty, ring, mapped };

  BareTracer(Kind kind, const std::string &file) : kind_(kind), file_(fopen(file.c_str(), "we")) {
    constexpr std::string_view kPrefixes[] = {"empty_", "ring_", "mapped_"};
    object_ = bare_tracers_bpf__open();
    require(file_ && object_);
    object_->rodata->wakeup_watermark = kRingBytes / 8;
    const uint32_t cpus = uint32_t(libbpf_num_possible_cpus());
    bpf_map__set_max_entries(object_->maps.rings, cpus);
    bpf_map__set_max_entries(object_->maps.areas, kind == Kind::mapped ? cpus : 1);
    bpf_program *program;
    bpf_object__for_each_program(program, object_->obj) {
      const std::string_view prefix = kPrefixes[size_t(kind)];
      bpf_program__set_autoload(
          program, std::string_view(bpf_program__name(program)).substr(0, prefix.size()) == prefix);
    }
    require(bare_tracers_bpf__load(object_) == 0);
    if (kind == Kind::ring)
      make_rings(uint32_t(get_nprocs_conf()));
    if (kind == Kind::mapped)
      map_areas(cpus);
    require(bare_tracers_bpf__attach(object_) == 0);
    if (kind == Kind::ring || kind == Kind::mapped)
      reader_ = std::thread([this] { read(); });
  }

  /// Writes what is left, and detaches. What the reader used and what was lost are known then.
  void stop() {
    bare_tracers_bpf__detach(object_);
    stopping_ = true;
    if (reader_.joinable())
      reader_.join();
    lost_ = object_->bss->lost;
    for (uint32_t cpu = 0; areas_ && cpu < cpus_; cpu++)
      lost_ += areas_[cpu].lost;
    if (areas_)
      munmap(areas_, cpus_ * sizeof(mapped_area));
    rings_.clear();
    for (const pollfd &ring : polled_)
      close(ring.fd);
    bare_tracers_bpf__destroy(object_);
    fclose(file_);
  }
  uint64_t lost() const { return lost_; }
  uint64_t reader_cpu_ns() const { return reader_cpu_ns_; }

private:
  static constexpr uint32_t kRingBytes = 8 << 20; // ovnitrace's default
  static constexpr int kPeriod = 5;               // ms between two looks at mapped memory

  static void require(bool done) {
    if (done)
      return;
    perror("capture_bench: the bare tracers");
    exit(1);
  }

  void make_rings(uint32_t cpus) {
    for (uint32_t cpu = 0; cpu < cpus; cpu++) {
      int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "bare_ring", 0, 0, kRingBytes, nullptr);
      require(fd >= 0 &&
              bpf_map_update_elem(bpf_map__fd(object_->maps.rings), &cpu, &fd, BPF_ANY) == 0);
      rings_.emplace_back(fd, kRingBytes);
      polled_.push_back({fd, POLLIN, 0});
    }
  }

  void map_areas(uint32_t cpus) {
    cpus_ = cpus;
    void *at = mmap(nullptr, cpus * sizeof(mapped_area), PROT_READ | PROT_WRITE, MAP_SHARED,
                    bpf_map__fd(object_->maps.areas), 0);
    require(at != MAP_FAILED);
    areas_ = static_cast<mapped_area *>(at);
  }

  void read() {
    ovnitrace::enter_service_thread();
    for (bool last = false; !last;) {
      last = stopping_;
      poll(polled_.data(), polled_.size(), last ? 0 : areas_ ? kPeriod : 100);
      for (ovnitrace::RingBuffer &ring : rings_)
        ring.drain(ring.produced(), [&](const void *record, size_t bytes) {
          fwrite_unlocked(record, bytes, 1, file_);
        });
      for (uint32_t cpu = 0; areas_ && cpu < cpus_; cpu++)
        write_area(areas_[cpu]);
    }
    timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    reader_cpu_ns_ = uint64_t(used.tv_sec) * 1'000'000'000 + uint64_t(used.tv_nsec);
  }

  /// In at most two pieces.
  void write_area(mapped_area &area) {
    const uint64_t head = __atomic_load_n(&area.head, __ATOMIC_ACQUIRE);
    while (area.tail < head) {
      const uint64_t from = area.tail % MAPPED_RECORDS;
      const uint64_t count = std::min<uint64_t>(head - area.tail, MAPPED_RECORDS - from);
      fwrite_unlocked(area.records + from, sizeof(mapped_record), count, file_);
      __atomic_store_n(&area.tail, area.tail + count, __ATOMIC_RELEASE);
    }
  }

  const Kind kind_;
  FILE *file_;
  bare_tracers_bpf *object_ = nullptr;
  std::vector<ovnitrace::RingBuffer> rings_;
  std::vector<pollfd> polled_;
  mapped_area *areas_ = nullptr; ///< one a CPU
  uint32_t cpus_ = 0;            ///< that have one
  std::atomic<bool> stopping_ = false;
  std::thread reader_;
  uint64_t lost_ = 0, reader_cpu_ns_ = 0;
};
