// SPDX-License-Identifier: BSD-2-Clause
// A tracer with nothing but rings (bare_ring.bpf.c), read by a thread with real-time priority that
// writes the records to a file as they are: what BPF ring buffers cost at the least.
#pragma once

#include "user/chunk/service_thread.h"
#include "user/ring/ring_buffer.h"

#include "tests/bench/bare_ring.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <poll.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

/// Traces from its construction to stop(). Exits when the kernel refuses.
class BareRing {
public:
  explicit BareRing(const std::string &file) : file_(fopen(file.c_str(), "we")) {
    bare_ring_bpf *o = object_ = bare_ring_bpf__open();
    uint32_t cpus = uint32_t(get_nprocs_conf());
    o->rodata->wakeup_watermark = kRingBytes / 8;
    bpf_map__set_max_entries(o->maps.rings, uint32_t(libbpf_num_possible_cpus()));
    require(file_ && bare_ring_bpf__load(o) == 0);
    for (uint32_t cpu = 0; cpu < cpus; cpu++) {
      int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "bare_ring", 0, 0, kRingBytes, nullptr);
      require(fd >= 0 && bpf_map_update_elem(bpf_map__fd(o->maps.rings), &cpu, &fd, BPF_ANY) == 0);
      rings_.emplace_back(fd, kRingBytes);
      polled_.push_back({fd, POLLIN, 0});
    }
    require(bare_ring_bpf__attach(o) == 0);
    reader_ = std::thread([this] { read(); });
  }

  /// Writes what is left, and detaches. CPU ns of the reader and records lost are known then.
  void stop() {
    bare_ring_bpf__detach(object_);
    stopping_ = true;
    reader_.join();
    lost_ = object_->bss->lost;
    rings_.clear();
    for (const pollfd &ring : polled_)
      close(ring.fd);
    bare_ring_bpf__destroy(object_);
    fclose(file_);
  }
  uint64_t lost() const { return lost_; }
  uint64_t reader_cpu_ns() const { return reader_cpu_ns_; }

private:
  static constexpr uint32_t kRingBytes = 8 << 20; // ovnitrace's default

  static void require(bool done) {
    if (done)
      return;
    perror("capture_bench: the bare rings");
    exit(1);
  }

  void read() {
    ovnitrace::enter_service_thread();
    for (bool last = false; !last;) {
      last = stopping_;
      poll(polled_.data(), polled_.size(), last ? 0 : 100);
      for (ovnitrace::RingBuffer &ring : rings_)
        ring.drain(ring.produced(), [&](const void *record, size_t bytes) {
          fwrite_unlocked(record, bytes, 1, file_);
        });
    }
    timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    reader_cpu_ns_ = uint64_t(used.tv_sec) * 1'000'000'000 + uint64_t(used.tv_nsec);
  }

  FILE *file_;
  bare_ring_bpf *object_ = nullptr;
  std::vector<ovnitrace::RingBuffer> rings_;
  std::vector<pollfd> polled_;
  std::atomic<bool> stopping_ = false;
  std::thread reader_;
  uint64_t lost_ = 0, reader_cpu_ns_ = 0;
};
