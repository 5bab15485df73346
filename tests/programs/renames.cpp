// SPDX-License-Identifier: BSD-2-Clause
// renames COUNT: gives itself two names in turn so often, then the name "last".
#include <sys/prctl.h>

#include <cstdlib>

int main(int argc, char **argv) {
  const long count = argc > 1 ? atol(argv[1]) : 1000;
  for (long n = 0; n < count; n++)
    prctl(PR_SET_NAME, n % 2 ? "odd" : "even");
  prctl(PR_SET_NAME, "last");
}
