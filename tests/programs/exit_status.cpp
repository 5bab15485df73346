// SPDX-License-Identifier: BSD-2-Clause
// exit_status N: exits with status N.
#include <cstdlib>

int main(int argc, char **argv) {
  return argc > 1 ? atoi(argv[1]) : 0;
}
