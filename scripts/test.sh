#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Installs what is missing, builds, runs every test and ends with one line: N passed, N failed,
# N skipped. `make test` runs it. `test.sh fuzz [NAME]` runs only the fuzzers, or one of them. Exit
# status 1 if any failed or none ran.
set -u
cd "$(dirname "$0")/.." || exit 1

# One old kernel and the newest. On one between them, a few tests show that everything loads: what the
# verifier allows changes in both directions.
kernels="6.1 7.3 6.12"
loads="Accounting.CountsEachTransitionOnce:Stat.TakesFamiliesAndStacks:ControlFire.StartsMarks*"
[ "${1:-}" != fuzz ] && [ "$(uname -m)" = x86_64 ] || kernels=

if [ "${1:-}" = fuzz ]; then
  scripts/build.sh fuzzers || exit 1
else
  echo "test: step 1 of 3: install what is missing to build and test"
  scripts/setup.sh ${kernels:+kernels} || exit 1
  echo "test: step 2 of 3: build (it goes on where an earlier build ended)"
  scripts/build.sh all test-programs fuzzers || exit 1
  echo "test: step 3 of 3: run the tests: unit tests, captures, the page in a browser," \
    "other kernels, fuzzers; about 15 min"
fi

passed=0 failed=0 skipped=0
notes=$(mktemp -d) || exit 1
trap 'rm -rf "$notes"' EXIT
skips=$notes/skips failures=$notes/failures flaky=$notes/flaky
touch "$skips" "$failures" "$flaky"

# Starts a GoogleTest program: start PROGRAM SHARDS COMMAND… The shards run at a time.
start() {
  local program=$1 shards=$2 shard
  shift 2
  echo "== $*"
  for ((shard = 0; shard < shards; shard++)); do
    {
      GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard "$@" --gtest_color=no 2>&1 |
        tee "$program.$shard.log"
      echo "${PIPESTATUS[0]}" >"$program.$shard.status"
    } &
  done
}

# Waits for everything that was started, and counts the results of one program: finish PROGRAM SHARDS
finish() {
  local program=$1 shards=$2 shard
  wait
  for ((shard = 0; shard < shards; shard++)); do
    count_results "$program" "$(cat "$program.$shard.status")" "$program.$shard.log"
  done
}

# Counts the closing lines of tests, so that tests before a crash are counted, too. A runner that died,
# or ran fewer tests than it announced, is one more failure.
count_results() {
  local name=$1 status=$2 log=$3 announced ok bad skip
  count() { grep -cE "\[ *$1 *\] .*\([0-9]+ ms\)\$" "$log"; }
  ok=$(count OK) bad=$(count FAILED) skip=$(count SKIPPED)
  announced=$(sed -nE 's/^\[=+\] Running ([0-9]+) tests?.*/\1/p' "$log" | head -n 1)
  if [ "$((ok + bad + skip))" -ne "${announced:-0}" ] ||
    { [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; }; then
    echo "$name ended with status $status after $((ok + bad + skip)) of ${announced:-0} tests" |
      tee -a "$failures"
    bad=$((bad + 1))
  fi
  passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))

  awk '/^\[ RUN / { reason = ""; inside = 0 }
       / ms\)$/ && /\[  SKIPPED \]/ { sub(/.*\] /, ""); sub(/ \([0-9]+ ms\)$/, ""); print $0 ":" reason; inside = 0; next }
       inside && NF { reason = reason " " $0 }
       /: Skipped$/ { inside = 1 }' "$log" >>"$skips"
  # A failure may have printed pages; its first lines say what was expected.
  awk '/^\[ RUN / { count = 0; next }
       / ms\)$/ && /\[  FAILED  \]/ { sub(/,$/, "", $4); print $4; for (i = 0; i < count; i++) print "  " text[i] }
       count < 20 { text[count++] = substr($0, 1, 300) }' "$log" >>"$failures"
}

# As finish, with a second try: finish_or_retry PROGRAM SHARDS COMMAND… Some kernels hide events of
# certain threads, and a host can take a CPU away for long. If at most five tests fail, they run again,
# one after the other, and the summary names them.
finish_or_retry() {
  local program=$1 shards=$2 all=$failures names
  shift 2
  failures=$notes/first
  : >"$failures"
  finish "$program" "$shards"
  names=$(for ((shard = 0; shard < shards; shard++)); do
    sed -nE 's/^\[ *FAILED *\] ([^ ,]+).* \([0-9]+ ms\)$/\1/p' "$program.$shard.log"
  done)
  failures=$all
  if [ -z "$names" ] || [ "$(wc -w <<<"$names")" -gt 5 ] ||
    grep -q '^[^ ]* ended with status' "$notes/first"; then
    cat "$notes/first" >>"$failures"
    return
  fi
  cat "$notes/first" >>"$flaky"
  failed=$((failed - $(wc -w <<<"$names")))
  start "$program.again" 1 "$@" --gtest_filter="${names//$'\n'/:}"
  finish "$program.again" 1
}

# Tracing needs root; without sudo the tests themselves say what they cannot do.
root=()
if [ "$(id -u)" -ne 0 ] && command -v sudo >/dev/null && sudo true; then
  root=(sudo '--preserve-env=GTEST_TOTAL_SHARDS,GTEST_SHARD_INDEX')
fi

runners="unit_tests e2e_tests browser_tests"
[ "${1:-}" != fuzz ] || runners=
for runner in $runners; do
  binary=build/tests/$runner
  [ -x "$binary" ] || continue
  case $runner in
  e2e_tests) command=(2 "${root[@]}" "$binary") ;;
  unit_tests) command=("$(($(nproc) * 2))" "$binary") ;; # many tests only wait
  *) command=(1 "$binary") ;;
  esac
  start "$binary" "${command[@]}"
  finish_or_retry "$binary" "${command[@]}"
done

# The modules of the page, without a browser.
if [ "${1:-}" != fuzz ]; then
  echo "== node --test tests/page"
  node --test --test-reporter=tap tests/page/*_test.mjs 2>&1 | tee build/tests/page.log
  status=${PIPESTATUS[0]}
  ok=$(sed -n 's/^# pass //p' build/tests/page.log) bad=$(sed -n 's/^# fail //p' build/tests/page.log)
  if [ "$status" -ne 0 ] && [ "${bad:-0}" -eq 0 ]; then
    echo "node --test ended with status $status" | tee -a "$failures"
    bad=1
  fi
  grep '^ *not ok' build/tests/page.log >>"$failures"
  passed=$((passed + ${ok:-0})) failed=$((failed + ${bad:-0}))
fi

# The first tests of each feature on other kernels. A guest needs one CPU.
on_kernel() {
  local only=()
  [ "$2" != 6.12 ] || only=("--gtest_filter=$loads")
  QUICK=1 "$1" "build/tests/kernel-$2" 1 tests/kernels/run.sh "$2" "${only[@]}"
}
ready=()
for kernel in $kernels; do
  state=$(tests/kernels/fetch.sh "$kernel")
  if [ "$state" = "$kernel ready" ]; then
    ready+=("$kernel")
  else
    echo "Linux $state" >>"$skips"
    skipped=$((skipped + 1))
  fi
done
for kernel in "${ready[@]}"; do
  [ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n
  on_kernel start "$kernel"
done
for kernel in "${ready[@]}"; do on_kernel finish_or_retry "$kernel"; done

# Each parser a while under libFuzzer, from its seeds if it has any: a smoke test, not the hunt
# itself, which is build/tests/fuzz/NAME by hand for hours.
fuzz() {
  local fuzzer=$1 name=${1##*/}
  local corpora=("build/fuzz-corpus/$name")
  mkdir -p "${corpora[0]}"
  [ ! -d "tests/fuzz/corpus/$name" ] || corpora+=("tests/fuzz/corpus/$name")
  "$fuzzer" -runs="${FUZZ_RUNS:-100000}" -max_total_time="${FUZZ_SECONDS:-10}" -verbosity=0 -seed=1 \
    -print_final_stats=1 -artifact_prefix="${corpora[0]}-" "${corpora[@]}" >"$fuzzer.log" 2>&1
}

fuzzers=()
for fuzzer in build/tests/fuzz/*; do
  if [ -f "$fuzzer" ] && [ -x "$fuzzer" ] && [ "${2:-${fuzzer##*/}}" = "${fuzzer##*/}" ]; then
    fuzzers+=("$fuzzer")
  fi
done
for ((first = 0; first < ${#fuzzers[@]}; first += $(nproc))); do
  pids=()
  for fuzzer in "${fuzzers[@]:first:$(nproc)}"; do
    fuzz "$fuzzer" &
    pids+=($!)
  done
  for fuzzer in "${fuzzers[@]:first:$(nproc)}"; do
    echo "== $fuzzer"
    if wait "${pids[0]}"; then
      grep '^stat::' "$fuzzer.log"
      passed=$((passed + 1))
    else
      cat "$fuzzer.log"
      echo "$fuzzer found a fault: the input is build/fuzz-corpus/${fuzzer##*/}-*" | tee -a "$failures"
      failed=$((failed + 1))
    fi
    pids=("${pids[@]:1}")
  done
done

if [ -s "$skips" ]; then
  echo "Skipped:"
  sed 's/^/  /' "$skips"
fi
if [ -s "$flaky" ]; then
  echo "Failed at first, and ran again:"
  sed 's/^/  /' "$flaky"
fi
if [ -s "$failures" ]; then
  echo "Failed:"
  sed 's/^/  /' "$failures"
fi
echo "$passed passed, $failed failed, $skipped skipped" | tee build/tests/summary
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
