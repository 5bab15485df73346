#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs the tests of features.txt on the kernels of fetch.sh in QEMU: run.sh [KERNEL…]. `make test-kernels`
# builds what this needs. CPUS='1 2 8' chooses the numbers of CPUs. Each run leaves its results in
# build/kernels/results; table.sh writes them into docs/kernels.md. QUICK=1 runs only the first tests of each
# row, --gtest_filter=TESTS other ones, whose results do not count. Exit status 1 if a test failed, or
# if a kernel could not be had.
set -u
cd "$(dirname "$0")/../.." || exit 1
results=build/kernels/results
filter=$(sed -n 's/^[^#].* | //p' tests/kernels/features.txt | if [ -n "${QUICK:-}" ]; then cut -d: -f1; else cat; fi | paste -sd:)
for argument; do
  case $argument in
  --gtest_filter=*) filter=${argument#*=} results=build/kernels/filtered ;;
  esac
done
mkdir -p "$results"

mapfile -t patterns < <(tr : '\n' <<<"$filter")
for pattern in "${patterns[@]}"; do
  build/tests/e2e_tests --gtest_list_tests "--gtest_filter=$pattern" | grep -q '^ ' ||
    { echo "kernels: no test matches $pattern" >&2 && exit 1; }
done

failed=0
while read -r kernel state <&3; do
  if [ "$state" != ready ]; then
    echo "kernels: $kernel: $state" >&2
    failed=1
    continue
  fi
  for cpus in ${CPUS:-2}; do
    echo "== Linux $kernel, CPUs: $cpus"
    GUEST_CPUS=$cpus tests/kernels/boot.sh "$kernel" \
      build/tests/e2e_tests --gtest_color=no "--gtest_filter=$filter" || failed=1
    {
      echo "package $(cat "build/kernels/$kernel/package") ${QUICK:+quick}"
      sed -nE 's/^\[ *(OK|FAILED|SKIPPED) *\] ([^ ,]+)[, ].*ms\)\r?$/\1 \2/p' "build/kernels/$kernel/output.log"
    } >"$results/$kernel.$cpus"
  done
done 3< <(tests/kernels/fetch.sh "$@")
exit "$failed"
