#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs a part of the end-to-end tests, of what depends on the kernel, on each kernel of fetch.sh; `make
# test-kernels` builds what this needs. Arguments name some of the kernels. No times are tested: under emulation the two clocks that those tests
# compare run apart. Exit status 1 if a test failed on any, or a kernel could not be had.
set -u
cd "$(dirname "$0")/../.." || exit 1

tests='Accounting.CountsTheSwitchesOfEachThreadToItsDeath:Accounting.CountsEachTransitionOnce'
tests+=':Accounting.TellsPreemption*:Families.*:SchedulingFamilies.*:UserEvents.EachIsThere*:UserEvents.OfChildProcessesToo'
tests+=':UserEvents.ADisabled*:Killed.LeavesNoBpf*:Loss.IsCountedExactly:Threads.ThatExecute*'
tests+=':HoldersOf.*:Control.AFunctionFrom*:Control.ARegionOfAThread*:ControlFire.StartsMarks*'
tests+=':CpuLimits.*:Threads.OfAPidNamespaceAreTracedFromWithin:Timeline.HasOneThread*:Waker.*:Privileges.OfTwo*-SchedulingFamilies.OnlyThe*'

failed=0
while read -r kernel state <&3; do
  echo "== Linux $kernel"
  if [ "$state" != ready ]; then
    echo "kernels: $kernel: $state" >&2
    failed=1
  else
    tests/kernels/boot.sh "$kernel" build/tests/e2e_tests --gtest_color=no --gtest_brief=1 "--gtest_filter=$tests" ||
      failed=1
  fi
done 3< <(tests/kernels/fetch.sh "$@")
exit "$failed"
