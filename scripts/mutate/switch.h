// SPDX-License-Identifier: BSD-2-Clause
// What a source with many mutants asks at run time: which of them is on. Read before constructors
// of static objects, in C and C++.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

// The number of the mutant that is on, and a byte of the file MUTANTS_REACHED for each.
__attribute__((weak, visibility("hidden"))) int mutant_on = 0;
__attribute__((weak, visibility("hidden"))) unsigned char *mutants_reached = 0;

__attribute__((constructor(101))) static void read_mutant_on(void) {
  const char *number = getenv("MUTANT_ON"), *reached = getenv("MUTANTS_REACHED");
  if (number)
    mutant_on = atoi(number);
  if (!reached || mutants_reached)
    return;
  const int file = open(reached, O_RDWR | O_CLOEXEC);
  const off_t size = file < 0 ? 0 : lseek(file, 0, SEEK_END);
  if (size > 0) {
    void *bytes = mmap(0, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (bytes != MAP_FAILED)
      mutants_reached = (unsigned char *)bytes;
  }
  if (file >= 0)
    close(file);
}

static inline int mutant(int number) {
  if (mutants_reached)
    mutants_reached[number] = 1;
  return mutant_on == number;
}

#ifdef __cplusplus
}
#endif
