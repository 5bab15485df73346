// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/controller.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "user/bpf/preflight.h"
#include "user/chunk/service_thread.h"

#include <bpf/bpf.h>
#include <fmt/core.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

namespace ovnitrace::control {

namespace {

constexpr uint64_t kMillisecond = 1'000'000; // ns

ProgramOptions program_options(const Plan &plan, bool region_by_thread) {
  ProgramOptions options;
  options.region_by_thread = region_by_thread;
  options.holds = plan.has(Source::probe);
  if (!has_capability(CAP_KILL))
    options.continues_uid = geteuid();
  return options;
}

/// Raises the capabilities that this thread keeps when the process becomes another user.
void raise_kept_capabilities() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (syscall(SYS_capget, &header, data) != 0)
    return;
  for (__user_cap_data_struct &half : data)
    half.effective = half.permitted;
  syscall(SYS_capset, &header, data);
}

} // namespace

int patience(std::optional<uint64_t> due, uint64_t now, bool parents_may_stop) {
  const int look = parents_may_stop ? HeldProcesses::kParentsLook : 1000; // ms
  if (!due)
    return look;
  return *due <= now ? 0 : int(std::min<uint64_t>((*due - now) / kMillisecond + 1, look));
}

std::vector<std::string> loss_lines(const ProgramLosses &losses) {
  std::vector<std::string> lines;
  if (losses.skipped)
    lines.push_back(fmt::format("hits of alarms that the kernel skipped: {}", losses.skipped));
  if (losses.full)
    lines.push_back(fmt::format(
        "threads that had no chains, because there were too many at a time: {}", losses.full));
  if (losses.unheld)
    lines.push_back(fmt::format("processes with new code that could not be stopped until their "
                                "probes were set, so alarms may have been missed: {}",
                                losses.unheld));
  if (losses.messages)
    lines.push_back(fmt::format("{} messages were lost: timeouts were missed", losses.messages));
  return lines;
}

Controller::Controller(Plan plan, const Capture &capture, bool region_by_thread,
                       bool starts_program)
    : plan_(std::move(plan)), capture_(capture), region_by_thread_(region_by_thread),
      programs_(plan_, &capture, program_options(plan_, region_by_thread)),
      held_(programs_.held_map(), programs_.holds(), starts_program),
      arming_(plan_, &programs_, [](const std::string &line) { print_text(line); }),
      messages_(programs_.messages_fd(), Programs::kMessageBytes),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (plan_.has(Source::probe) || plan_.has(Source::stepping))
    require_kernel_pids("--control with probes or steps");
  if (!wake_)
    throw ovnitrace::Error("--control: cannot wait: {}", std::strerror(errno));
}

Controller::~Controller() {
  end_thread();
}

/// Ends the thread. No process is stopped when it returns.
void Controller::end_thread() {
  programs_.stop_holding();
  ending_ = true;
  eventfd_write(wake_.get(), 1);
  if (thread_.joinable())
    thread_.join();
  {
    const std::lock_guard lock(asked_mutex_);
    ended_ = true;
    answered_.notify_all();
  }
  take_messages();
  held_.release_all();
}

void Controller::attach(const std::string &program, const Identity &identity,
                        const std::vector<uint32_t> &pids) {
  programs_.attach();
  if (plan_.has(Source::stepping)) // its process shall have none of the probes' descriptors
    single_step_.emplace(plan_, programs_);
  if (!program.empty())
    arming_.look_at_program(program, identity);
  for (uint32_t pid : pids)
    arming_.look_at_process(pid);
  arming_.refuse_impossible();
  const bool later = arming_.has_loader() || program.empty();
  if (arming_.missing() && !later) {
    arming_.report_missing("the program loads no libraries");
    throw UsageError("--control: an alarm can never hit");
  }
  arming_.report_missing("the alarm is armed when a file that contains it is loaded");
}

void Controller::begin_living() {
  programs_.begin_living();
  // Repeats until there are no new processes: one without probes may fork others without.
  for (bool more = true; more;) {
    more = false;
    for (const auto &[tid, pid] : programs_.threads(0)) {
      const std::lock_guard lock(arming_mutex_);
      if (!arming_.has_looked_at(pid)) {
        arming_.look_at_process(pid);
        more = true;
      }
    }
  }
  if (single_step_)
    single_step_->look(0);
}

void Controller::start(const std::vector<uint32_t> &pids) {
  for (uint32_t pid : pids)
    if (single_step_)
      single_step_->trace(pid);
  thread_ = std::thread([this] { run(); });
}

std::string Controller::ask(const std::string &command) {
  std::unique_lock lock(asked_mutex_);
  asked_ = command;
  answer_.reset();
  eventfd_write(wake_.get(), 1);
  answered_.wait(lock, [this] { return answer_ || ended_; });
  return answer_ ? *answer_ : kEndedAnswer;
}

/// Answers the command of a thread, which waits meanwhile, so no other thread asks.
void Controller::answer_asked() {
  std::optional<std::string> command;
  {
    const std::lock_guard lock(asked_mutex_);
    command.swap(asked_);
  }
  if (!command)
    return;
  std::string text;
  try {
    text = answer(*command);
  } catch (const std::exception &error) {
    text = fmt::format("error\n{}\n", error.what());
  }
  const std::lock_guard lock(asked_mutex_);
  answer_ = std::move(text);
  answered_.notify_all();
}

void Controller::detach() {
  end_thread();
  single_step_.reset();
  std::thread detaching([this] { programs_.detach(); }); // takes seconds, with many probes
  while (held_.continue_parents())
    std::this_thread::sleep_for(std::chrono::milliseconds(HeldProcesses::kParentsLook));
  detaching.join();
  arming_.report_missing("the alarm was never armed");
  for (const std::string &line : loss_lines(programs_.losses()))
    print("--control: {}", line);
}

void Controller::run() {
  block_signals();
  prctl(PR_SET_KEEPCAPS, 1);
  while (!ending_) {
    std::vector<pollfd> files = {{wake_.get(), POLLIN, 0},
                                 {programs_.messages_fd(), POLLIN, 0},
                                 {single_step_ ? single_step_->file() : -1, POLLIN, 0}};
    const bool parents_may_stop = held_.continue_parents();
    const auto due = timers_.empty() ? std::nullopt : std::optional(timers_.top().time);
    poll(files.data(), files.size(), patience(due, monotonic_ns(), parents_may_stop));
    eventfd_t ignored;
    eventfd_read(wake_.get(), &ignored);
    raise_kept_capabilities();
    try {
      take_messages();
      fire_timers();
      while (const auto held = files[2].revents ? single_step_->next_held() : std::nullopt) {
        look_at(held->pid);
        single_step_->release(held->tid);
      }
      answer_asked();
    } catch (const std::exception &error) {
      print("--control: {}", error.what());
    }
  }
  // Only this thread may continue processes of other users.
  take_messages();
  held_.release_all();
}

/// Takes messages. A failure concerns one message: later ones may be of processes that are stopped.
void Controller::take_messages() {
  messages_.drain(messages_.produced(), [this](const void *message, size_t bytes) {
    try {
      if (bytes == sizeof(control_message))
        take(*static_cast<const control_message *>(message));
    } catch (const std::exception &error) {
      print("--control: {}", error.what());
    }
  });
}

void Controller::take(const control_message &message) {
  switch (message.kind) {
  case CONTROL_ARMED:
    timers_.push({message.time + plan_.alarm_table.at(message.alarm).value, message.pid,
                  message.tid, message.alarm});
    return;
  case CONTROL_VISIT:
    programs_.visit(message);
    return;
  case CONTROL_GONE: {
    const std::lock_guard lock(arming_mutex_);
    arming_.forget(message.pid, message.tid != 0);
    return;
  }
  case CONTROL_FORK:
  case CONTROL_LIBRARY:
  case CONTROL_IMAGE:
    look_at(message.pid);
    if (message.alarm == 0)
      held_.release(message.pid);
    return;
  case CONTROL_COUNT:
    if (single_step_)
      single_step_->look(message.pid);
    return;
  case CONTROL_DONE:
    print_end(message);
    chain_finished(message.pid, message.alarm);
    return;
  }
}

/// Signals by pidfd: if the process has ended, its number may belong to a process that is not
/// traced.
void Controller::chain_finished(uint32_t pid, uint32_t chain) {
  if (!program_ || ended_program_)
    return;
  std::set<uint32_t> &done = done_[pid];
  done.insert(chain);
  if (done.size() < plan_.chains.size())
    return;
  ended_program_ = true; // the program can end before this thread goes on after the signal
  if (syscall(SYS_pidfd_send_signal, program_.get(), SIGTERM, nullptr, 0) == 0)
    return;
  ended_program_ = false;
  if (errno != ESRCH)
    print("--early-out: cannot end the program: {}", std::strerror(errno));
}

/// Prints only the first end of each chain, which can finish for thousands of threads.
void Controller::print_end(const control_message &message) {
  if (message.alarm >= plan_.chains.size() || !finished_.insert(message.alarm).second)
    return;
  const auto [name, text] = plan_.descriptions()[message.alarm];
  // With --early-out, no chain may repeat endlessly.
  const bool advises = !program_ && can_repeat(plan_.chains[message.alarm]);
  print("--control: chain {} has finished in {} {}{}", name.empty() ? text : name,
        message.tid ? "thread" : "process", message.tid ? message.tid : message.pid,
        advises ? "; `,repeat` at its end makes it start again" : "");
}

void Controller::fire_timers() {
  const uint64_t now = monotonic_ns();
  while (!timers_.empty() && timers_.top().time <= now) {
    const Timer timer = timers_.top();
    timers_.pop();
    hit(timer.pid, timer.tid, 1ull << timer.alarm);
  }
}

/// Lets alarms hit in a thread; `tid` 0: in all threads of the process, `pid` 0: of all processes.
/// Returns how many threads fired. `counted`: hits of alarms that need more hits, of the thread
/// with most.
uint32_t Controller::hit(uint32_t pid, uint32_t tid, uint64_t alarms,
                         std::map<uint32_t, uint64_t> *counted) {
  std::vector<std::pair<uint32_t, uint32_t>> threads = {{tid, pid}};
  if (!tid)
    threads = programs_.threads(pid);
  uint32_t fired = 0;
  for (const auto &[thread, process] : threads) {
    const control_hit result = programs_.hit(process, thread, alarms);
    fired += result.fired != 0;
    for (uint32_t a = 0; counted && a < plan_.alarm_table.size(); a++)
      if (result.counted >> a & 1)
        (*counted)[a] = std::max((*counted)[a], programs_.hits_of(process, thread, a));
    if (result.fired && result.result & CONTROL_STEPPING && single_step_)
      single_step_->look(process, thread);
  }
  return fired;
}

void Controller::look_at(uint32_t pid) {
  try {
    const std::lock_guard lock(arming_mutex_);
    if (!ending_)
      arming_.look_at_process(pid);
  } catch (const std::exception &error) {
    print("--control: {}", error.what());
  }
}

std::string Controller::status() const {
  std::string text;
  for (const auto &[tid, pid] : programs_.threads(0)) {
    const uint32_t id = region_by_thread_ ? tid : pid;
    if (!region_by_thread_ && tid != pid)
      continue;
    uint64_t since = 0;
    bpf_map_lookup_elem(capture_.regions_map(), &id, &since);
    text += fmt::format(
        "{} {}: {}\n", region_by_thread_ ? "thread" : "process", id,
        since ? fmt::format("in a region since {:.3f} s", double(monotonic_ns() - since) / 1e9)
              : "in no region");
  }
  return text.empty() ? "no thread is traced\n" : text;
}

std::string Controller::answer(const std::string &command) {
  if (command == "status")
    return "ok\n" + status();
  uint64_t alarms = 0;
  for (size_t a = 0; a < plan_.alarm_table.size(); a++)
    if (plan_.alarm_table[a].type == CONTROL_INTERACTIVE &&
        (plan_.alarm_table[a].event == CONTROL_STOP) == (command == "stop"))
      alarms |= 1ull << a;
  if (!alarms)
    return fmt::format("error\nno chain has an alarm {}:interactive\n", command);
  std::map<uint32_t, uint64_t> counted;
  const uint32_t fired = hit(0, 0, alarms, &counted);
  take_messages(); // what the regions are to record, before the user goes on
  if (!fired && counted.empty())
    return fmt::format("error\nno thread waits for {}:interactive now\n", command);
  std::string text = "ok\n";
  for (const auto &[alarm, count] : counted)
    text +=
        fmt::format("{}: {} of {}\n", text_of(plan_, alarm), count, plan_.alarm_table[alarm].count);
  return text;
}

} // namespace ovnitrace::control
