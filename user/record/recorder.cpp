// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/recorder.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "user/chunk/service_thread.h"
#include "user/record/host.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>

namespace ovnitrace {

namespace {

constexpr int kLookMs = 100; ///< how long an event may stay unread on a quiet machine
constexpr int kMostTries = 100, kTryUs = 20;

void watch(int epoll, int fd) {
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLET; // woken by the watermark, not because something is there
  event.data.fd = fd;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
    throw Error("cannot watch a ring buffer: {}", std::strerror(errno));
}

} // namespace

Recorder::Recorder(Capture &capture, FamilyCapture *families, StackCapture *stacks,
                   const uint32_t *devices, ChunkPool &sink, uint64_t begin)
    : capture_(capture), families_(families), stacks_(stacks),
      life_(capture.life_fd(), CAPTURE_LIFE_BYTES),
      cgroup_ring_(capture.cgroups_fd(), CAPTURE_CGROUP_RING), counts_(capture.cpus()),
      somewhere_checked_(begin), epoll_(epoll_create1(EPOLL_CLOEXEC)),
      stop_event_(eventfd(0, EFD_CLOEXEC)), flush_event_(eventfd(0, EFD_CLOEXEC)) {
  cpus_.reserve(capture.cpus());
  for (uint32_t cpu = 0; cpu < capture.cpus(); cpu++) {
    ChunkWriter writer(cpu, begin, threads_.registry, sink);
    if (stacks)
      writer.set_stacks([stacks](const SchedTransition &one) { return stacks->number(one); });
    writer.set_devices(devices);
    cpus_.emplace_back(std::move(writer), end_);
    if (capture.ring_fd(cpu) < 0)
      continue;
    cpus_[cpu].set_ring(capture.ring_fd(cpu), capture.ring_bytes());
    watch(epoll_.get(), capture.ring_fd(cpu));
  }
  watch(epoll_.get(), capture.life_fd());
  watch(epoll_.get(), capture.cgroups_fd());
  if (capture.cmdlines_fd() >= 0) {
    cmdlines_.emplace(capture.cmdlines_fd(), CAPTURE_CMDLINES_BYTES);
    watch(epoll_.get(), capture.cmdlines_fd());
  }
  if (capture.stack_copies_fd() >= 0)
    watch(epoll_.get(), capture.stack_copies_fd());
  watch(epoll_.get(), stop_event_.get());
  watch(epoll_.get(), flush_event_.get());
  if (stacks)
    stacks->start();
  std::latch raised(1);
  thread_ = std::thread([&] {
    enter_service_thread();
    raised.count_down();
    started_.wait();
    if (begins())
      run();
  });
  raised.wait();
}

Recorder::~Recorder() {
  if (thread_.joinable()) { // not finished: something failed, maybe before start()
    eventfd_write(stop_event_.get(), 1);
    if (!started_.try_wait())
      started_.count_down();
    thread_.join();
  }
}

void Recorder::start(std::function<void()> begin) {
  begin_ = std::move(begin);
  started_.count_down();
  began_.get_future().get();
}

/// Returns false if that failed.
bool Recorder::begins() {
  try {
    if (begin_) // not if start() was never called
      begin_();
    began_.set_value();
    return true;
  } catch (...) {
    began_.set_exception(std::current_exception());
    return false;
  }
}

uint64_t Recorder::flush() {
  const uint64_t ticket = ++flushes_wanted_;
  eventfd_write(flush_event_.get(), 1);
  for (uint64_t done = flushes_done_; done < ticket; done = flushes_done_)
    flushes_done_.wait(done);
  return flushed_;
}

void Recorder::finish() {
  eventfd_write(stop_event_.get(), 1);
  thread_.join();
  look();
  for (uint32_t n = 0; n < cpus_.size(); n++) {
    const cpu_stage stage = const_cast<const cpu_stage &>(capture_.stage(n));
    cpus_[n].take_stage(stage);
    if (cpus_[n].writer().last_time() || cpu_is_online(n))
      cpus_[n].finish();
    records_ += cpus_[n].writer().records();
    events_ += cpus_[n].writer().events();
    counts_[n] = recorded_of(stage, families_ ? &families_->count(n) : nullptr, cpus_[n].late());
  }
}

void Recorder::run() {
  for (;;) {
    epoll_event event;
    int ready = epoll_wait(epoll_.get(), &event, 1, kLookMs);
    if (ready > 0 && event.data.fd == stop_event_.get())
      return;
    uint64_t wanted = flushes_wanted_;
    look();
    for (CpuStream &cpu : cpus_)
      cpu.pass_on(wanted == flushes_done_ ? monotonic_ns() : UINT64_MAX);
    if (wanted == flushes_done_)
      continue;
    uint64_t flushed = UINT64_MAX;
    for (const CpuStream &cpu : cpus_)
      flushed = std::min(flushed, cpu.settled());
    flushed_ = flushed;
    flushes_done_ = wanted;
    flushes_done_.notify_all();
  }
}

void Recorder::look() {
  uint64_t last_look = somewhere_checked_;
  const uint64_t now = monotonic_ns();
  uint64_t fullest = 0;
  for (CpuStream &cpu : cpus_) {
    cpu.note_position(now);
    fullest = std::max(fullest, cpu.ring_used());
  }
  if (fullest > fullest_ring_) // take_fullest_ring() may clear it at any time
    fullest_ring_ = fullest;
  if (pause_wanted_ != paused_) {
    paused_ = !paused_;
    for (CpuStream &cpu : cpus_)
      cpu.add_pause(now, paused_);
  }
  take_marks();
  notice_losses_somewhere();
  notice_lost_families();
  warn_of_left_out();
  if (stacks_)
    stacks_->learn();
  {
    const std::lock_guard lock(threads_mutex_);
    read_life();
    read_cgroups();
    read_command_lines();
  }
  threads_so_far_ = threads_.registry.count();
  for (uint32_t n = 0; n < cpus_.size(); n++)
    if (cpus_[n].drain())
      cpus_[n].settle(capture_.stage(n), last_look);
}

ThreadsSoFar Recorder::copy_threads() {
  const std::lock_guard lock(threads_mutex_);
  return {threads_.registry.without_earlier(), threads_.command_lines};
}

ThreadsSoFar Recorder::copy_peers() {
  const std::lock_guard lock(threads_mutex_);
  return {threads_.registry.only_peers(), {}};
}

void Recorder::mark(uint64_t time, uint16_t number) {
  const std::lock_guard lock(marks_mutex_);
  marks_.emplace_back(time, number);
}

/// Marks are in the file of the first CPU that has one.
void Recorder::take_marks() {
  const std::lock_guard lock(marks_mutex_);
  for (size_t cpu = 0; cpu < cpus_.size() && !marks_.empty(); cpu++)
    if (capture_.ring_fd(uint32_t(cpu)) >= 0) {
      for (const auto &[time, number] : marks_)
        cpus_[cpu].add_mark(time, number);
      marks_.clear();
    }
}

void Recorder::read_life() {
  uint64_t until = life_.produced();
  auto take = [this](const void *message, size_t bytes) {
    if (bytes == sizeof(life_record))
      lives_.take(*static_cast<const life_record *>(message));
  };
  // Another CPU may be interrupted while it writes a message; later ones may be of threads
  // whose transitions come next. It has preemption disabled: it will be done soon.
  for (int tries = 0; !life_.drain(until, take) && tries < kMostTries; tries++)
    usleep(kTryUs);
}

void Recorder::read_cgroups() {
  cgroup_ring_.drain(cgroup_ring_.produced(),
                     [this](const void *message, size_t bytes) { cgroups_.take(message, bytes); });
}

void Recorder::read_command_lines() {
  if (cmdlines_)
    cmdlines_->drain(cmdlines_->produced(), [this](const void *message, size_t bytes) {
      threads_.command_lines.take(message, bytes);
    });
}

void Recorder::warn_of_left_out() {
  if (warned_of_left_out_ || !capture_.counts().cgroups_left_out)
    return;
  warned_of_left_out_ = true;
  print("warning: more than {} cgroups pass the filters: threads in further ones are not recorded; "
        "name one that contains them",
        SELECT_CGROUPS);
}

/// Notices runs that the kernel skipped, and creations, renamings and exits that found no room,
/// since the last look. It is not known on which CPU they were, nor which later transitions are
/// shown wrong without them. All CPUs are therefore dark for that time. Everything that was written
/// so far is older than the last look, because a look notes the producers' positions before it
/// comes here.
void Recorder::notice_losses_somewhere() {
  uint64_t now = std::min<uint64_t>(monotonic_ns(), end_);
  uint64_t skipped = capture_.skipped_runs() + (families_ ? families_->skipped_runs() : 0);
  uint64_t life_lost = capture_.life_lost();
  uint64_t lost = skipped - skipped_runs_ + life_lost - life_lost_;
  if (lost)
    for (CpuStream &cpu : cpus_)
      cpu.add_blackout(somewhere_checked_, now, lost, FTRACE_BLACKOUT_SOMEWHERE);
  skipped_runs_ = skipped;
  life_lost_ = life_lost;
  somewhere_checked_ = now;
}

/// Adds a blackout to each CPU that had no room for events of families since the last call.
void Recorder::notice_lost_families() {
  for (uint32_t n = 0; families_ && n < cpus_.size(); n++) {
    volatile family_count &count = families_->count(n);
    uint64_t lost = count.lost, reported = count.reported;
    if (lost == reported)
      continue;
    cpus_[n].add_blackout(count.lost_since, count.lost_until, lost - reported,
                          FTRACE_BLACKOUT_FAMILIES);
    count.reported = lost;
  }
}

} // namespace ovnitrace
