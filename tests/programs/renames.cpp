// SPDX-License-Identifier: BSD-2-Clause
// renames COUNT [other]: gives itself two names in turn so often, then the name "last". With
// "other", a thread of its own that sleeps gets them. renames COUNT asleep: has the names "sleep1",
// "sleep2" and so on, and sleeps 10 ms under the first, 20 ms under the second and so on.
#include <semaphore.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

void rename_itself(const char *name) {
  prctl(PR_SET_NAME, name);
}

void rename_thread(int tid, const char *name) {
  FILE *file = fopen(("/proc/self/task/" + std::to_string(tid) + "/comm").c_str(), "w");
  if (!file || fputs(name, file) < 0 || fclose(file) != 0)
    exit(1);
}

} // namespace

int main(int argc, char **argv) {
  const long count = argc > 1 ? atol(argv[1]) : 1000;
  if (argc < 3) {
    for (long n = 0; n < count; n++)
      rename_itself(n % 2 ? "odd" : "even");
    rename_itself("last");
    return 0;
  }
  if (argv[2] == std::string("asleep")) {
    for (long n = 1; n <= count; n++) {
      rename_itself(("sleep" + std::to_string(n)).c_str());
      usleep(useconds_t(n) * 10'000);
    }
    return 0;
  }
  sem_t named, ready;
  sem_init(&named, 0, 0);
  sem_init(&ready, 0, 0);
  int tid = 0;
  std::thread other([&] {
    tid = gettid();
    sem_post(&ready);
    sem_wait(&named);
  });
  sem_wait(&ready);
  for (long n = 0; n < count; n++)
    rename_thread(tid, n % 2 ? "odd" : "even");
  rename_thread(tid, "last");
  sem_post(&named);
  other.join();
}
