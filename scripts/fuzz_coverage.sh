#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Prints a table of how much of the code of each parser its fuzzer has run. `make fuzz-coverage` builds
# the fuzzers for it. Each runs its corpora, those of earlier runs of `make fuzz` too.
# fuzz_coverage.sh FUZZER…
set -euo pipefail
cd "$(dirname "$0")/.."
profile=$(mktemp)
trap 'rm -f "$profile" "$profile.raw"' EXIT

echo "| target | code | lines | branches |"
echo "|---|---|---|---|"
for fuzzer; do
  name=$(basename "$fuzzer")
  read -ra code <<<"$(sed -n 's/^\/\/ Covers: //p' "tests/fuzz/$name.cpp")"
  corpora=()
  for corpus in "tests/fuzz/corpus/$name" "build/fuzz-corpus/$name"; do
    [ ! -d "$corpus" ] || corpora+=("$corpus")
  done
  LLVM_PROFILE_FILE=$profile.raw "$fuzzer" -runs=0 -verbosity=0 "${corpora[@]}" 2>/dev/null
  llvm-profdata merge -sparse "$profile.raw" -o "$profile"
  llvm-cov report "$fuzzer" -instr-profile="$profile" "${code[@]}" |
    awk -v name="$name" -v code="${code[*]}" '/^TOTAL/ {
      print "| `" name "` | `" code "` | " int($10) " % | " int($13) " % |" }'
done
