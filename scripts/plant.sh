#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Plants the faults of tests/faults.txt, one at a time, and says which test finds each:
#
#   scripts/plant.sh [FOLDER]    those of a folder (emulator/core), or all of them
#
# It works on a copy of the tree in build/plant, so that the tree itself stays as it is, and builds
# there only the unit tests. OPT and LDFLAGS come from the environment; OPT is -O1 by default.
# Exit status 1 if fewer than 95 % of the faults that are not equivalent are found, or if the table
# is wrong. It is wrong if a text does not occur once, or if a test finds an equivalent fault.
set -u
cd "$(dirname "$0")/.." || exit 1
table=tests/faults.txt copy=build/plant log=build/plant.log
folder=${1:-}
slow_ms=100      # tests that take longer run last
patience=180     # seconds that a planted suite may take
least_percent=95

die() {
  printf 'plant: %s\n' "$@" >&2
  exit 1
}

# Copies what differs, with a new time each, so that make sees what an earlier run left planted.
copy_tree() {
  mkdir -p "$copy" || return 1
  git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    [ ! -f "$file" ] || cmp -s "$file" "$copy/$file" ||
      { mkdir -p "$copy/$(dirname "$file")" && cp "$file" "$copy/$file"; } || exit 1
  done
  (cd "$copy" && find . -path ./build -prune -o -type f -print) | while IFS= read -r file; do
    [ -f "$file" ] || rm "$copy/$file" # it was moved or removed since an earlier run
  done
}

build() {
  make -C "$copy" -j"$(nproc)" OPT="${OPT:--O1}" build/tests/unit_tests >"$log" 2>&1
}

# Runs tests by their filter, up to the first that fails. What it prints is in the log.
run_tests() {
  (cd "$copy" && timeout "$patience" build/tests/unit_tests --gtest_color=no --gtest_fail_fast \
    --gtest_filter="$1") >"$log" 2>&1
}

# The test that failed, or was running when the suite ended, by the log.
test_that_failed() {
  awk '/^\[ RUN      \]/ { running = $4 }
       /^\[       OK \]/ || /^\[  SKIPPED \]/ { running = "" }
       /^\[  FAILED  \]/ && !failed { failed = $4 }
       END { print failed ? failed : running ? running : "the end of the suite" }' "$log" | tr -d ,
}

# Replaces a text that must occur once in a file. Status 2 if it does not.
replace() {
  OLD=$2 NEW=$3 perl -0777 -pi.sound -e '
    BEGIN { $status = 0 }
    my $count = () = /\Q$ENV{OLD}\E/g;
    if ($count == 1) { s/\Q$ENV{OLD}\E/$ENV{NEW}/ } else { $status = 2 }
    END { $? = $status }' "$1"
}

# One line for a fault; counts it under its folder.
declare -A found survived equivalent
errors=0
plant() {
  local file=$1 old=$2 new=$3 reason=$4 where verdict
  where=$(cut -d/ -f1-2 <<<"$file")
  if ! replace "$copy/$file" "$old" "$new" 2>/dev/null; then
    verdict="error: its text does not occur once"
    errors=$((errors + 1))
  elif ! build; then
    verdict="error: does not build"
    errors=$((errors + 1))
  elif ! run_tests "-$slow" || { [ -n "$slow" ] && ! run_tests "$slow"; }; then
    verdict="found by $(test_that_failed)"
    if [ -n "$reason" ]; then
      verdict="error: marked as equivalent, but $verdict"
      errors=$((errors + 1))
    fi
    found[$where]=$((${found[$where]:-0} + 1))
  elif [ -n "$reason" ]; then
    verdict="equivalent: $reason"
    equivalent[$where]=$((${equivalent[$where]:-0} + 1))
  else
    verdict="SURVIVED"
    survived[$where]=$((${survived[$where]:-0} + 1))
  fi
  printf '%s: %s: %s\n' "$file" "${new%%$'\n'*}" "$verdict"
  cp "$file" "$copy/$file"
}

copy_tree || die "cannot copy the tree to $copy"
build || die "the copy does not build without a fault: $log"
slow=
run_tests '*' || die "a test fails without a fault: $(test_that_failed): $log"
slow=$(sed -nE 's/^\[       OK \] ([^ ,]+).* \(([0-9]+) ms\)$/\1 \2/p' "$log" |
  awk -v most="$slow_ms" '$2 > most { print $1 }' | paste -sd:)

# A paragraph is a fault: its file, then lines of the old text after "- ", of the new one after "+ ",
# and why it is equivalent after "= ".
file='' old='' new='' reason=''
while IFS= read -r line || [ -n "$line" ]; do
  case $line in
    '#'*) ;;
    '- '*) old+=${old:+$'\n'}${line#- } ;;
    '+ '*) new+=${new:+$'\n'}${line#+ } ;;
    '= '*) reason=${line#= } ;;
    '')
      [ -z "$file" ] || [[ $file != "$folder"* ]] || plant "$file" "$old" "$new" "$reason"
      file='' old='' new='' reason=''
      ;;
    *) file=$line ;;
  esac
done < <(cat "$table"; echo)

all=0 good=0
printf '\n%-22s %6s %9s %11s\n' folder found survived equivalent
for where in $(printf '%s\n' "${!found[@]}" "${!survived[@]}" "${!equivalent[@]}" | sort -u); do
  printf '%-22s %6d %9d %11d\n' "$where" "${found[$where]:-0}" "${survived[$where]:-0}" \
    "${equivalent[$where]:-0}"
  good=$((good + ${found[$where]:-0}))
  all=$((all + ${found[$where]:-0} + ${survived[$where]:-0}))
done
printf 'plant: %d of %d faults found; %d errors in the table\n' "$good" "$all" "$errors"
[ "$all" -gt 0 ] && [ "$((good * 100))" -ge "$((all * least_percent))" ] && [ "$errors" -eq 0 ]
