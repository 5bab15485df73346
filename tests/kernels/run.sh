#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs the end-to-end tests that depend on the kernel on each kernel of fetch.sh; `make test-kernels`
# builds what this needs. Arguments name some of the kernels. Tests of times are left out: under
# emulation the two clocks that they compare run apart. Exit status 1 if a test failed on any
# kernel, or if a kernel could not be had.
set -u
cd "$(dirname "$0")/../.." || exit 1

tests='Accounting.CountsTheSwitchesOfEachThreadToItsDeath:Accounting.CountsEachTransitionOnce'
tests+=':Accounting.ReportsPreemption*:Families.*:SchedulingFamilies.*:UserEvents.EachIsThere*'
tests+=':UserEvents.ChildProcesses*:UserEvents.ADisabled*:Killed.LeavesNoBpf*:Loss.IsCountedExactly'
tests+=':Threads.ThatExecute*:HoldersOf.*:Control.ARegionLasts*:Control.ARegionOfAThread*'
tests+=':ControlFire.StartsMarks*:CpuLimits.*:Threads.APidNamespaceIsTracedFromWithin'
tests+=':Timeline.HasOneThread*:Waker.*:Privileges.TwoCapabilities*-SchedulingFamilies.OnlyThe*'

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
