// SPDX-License-Identifier: BSD-2-Clause
// What `make demo` traces: about a second of a little of everything that a scheduler does, with
// named threads, so that the timeline shows it. Main feeds four workers over a queue; a spinner, a
// sleeper, a ping-pong pair over pipes and a forked child live beside them.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

void spin(Clock::duration time) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) {
  }
}

/// Jobs, each the time that it takes. Closing it lets the workers end when it is empty.
class Queue {
public:
  void push(Clock::duration job) {
    {
      std::lock_guard lock(mutex_);
      jobs_.push_back(job);
    }
    filled_.notify_one();
  }

  void close() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    filled_.notify_all();
  }

  bool pop(Clock::duration &job) {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [this] { return closed_ || !jobs_.empty(); });
    if (jobs_.empty())
      return false;
    job = jobs_.front();
    jobs_.pop_front();
    return true;
  }

private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Clock::duration> jobs_;
  bool closed_ = false;
};

void name_thread(const std::string &name) {
  pthread_setname_np(pthread_self(), name.c_str());
}

void work(Queue &queue, int index) {
  name_thread("worker-" + std::to_string(index));
  for (Clock::duration job; queue.pop(job);)
    spin(job);
}

void spinner() {
  name_thread("spinner");
  std::this_thread::sleep_for(300ms);
  spin(400ms);
}

void sleeper() {
  name_thread("sleeper");
  for (int i = 0; i < 40; i++) {
    spin(500us);
    std::this_thread::sleep_for(20ms);
  }
}

struct Pipe {
  int ends[2];
  Pipe() {
    if (pipe(ends) != 0) {
      perror("sample: pipe");
      exit(1);
    }
  }
};

/// One side of a ping-pong, in bursts with a pause between them.
void volley(const char *name, const Pipe &in, const Pipe &out, bool serves) {
  name_thread(name);
  char ball = 0;
  for (int burst = 0; burst < 10; burst++) {
    for (int i = 0; i < 25; i++) {
      if (serves && write(out.ends[1], &ball, 1) != 1)
        return;
      if (read(in.ends[0], &ball, 1) != 1)
        return;
      if (!serves && write(out.ends[1], &ball, 1) != 1)
        return;
    }
    if (serves)
      std::this_thread::sleep_for(75ms);
  }
}

/// A process of its own; forked before there are threads, so that it may do as it likes.
pid_t fork_child() {
  const pid_t pid = fork();
  if (pid == 0) {
    name_thread("child");
    for (int i = 0; i < 5; i++) {
      std::this_thread::sleep_for(100ms);
      spin(30ms);
    }
    _exit(0);
  }
  return pid;
}

} // namespace

int main() {
  const pid_t child = fork_child();
  if (child < 0) {
    perror("sample: fork");
    return 1;
  }

  Queue queue;
  Pipe there, back;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back(work, std::ref(queue), i);
  threads.emplace_back(spinner);
  threads.emplace_back(sleeper);
  threads.emplace_back(volley, "ping", std::ref(back), std::ref(there), true);
  threads.emplace_back(volley, "pong", std::ref(there), std::ref(back), false);

  constexpr int kJobs = 80;
  for (int i = 0; i < kJobs; i++) {
    queue.push(1ms * (1 + i % 5));
    std::this_thread::sleep_for(10ms);
  }
  queue.close();
  for (auto &thread : threads)
    thread.join();
  waitpid(child, nullptr, 0);
  printf("sample: %d jobs done by 4 workers; 9 threads and a child process in all\n", kJobs);
}
