#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs clang-tidy (.clang-tidy) on the sources that are named, on all CPUs: tidy.sh FILE…
# Most of the time goes to headers. C++ files that share no name are therefore joined to units of up to
# forty files, which read the headers once. Exit status 1 if anything is found. `make lint` runs this.
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export work

# Succeeds if a file reads the headers of CLI11. performance-unnecessary-value-param walks a whole unit
# for each of 120 functions there, which is two thirds of the time of all checks.
uses_cli11() {
  [[ $1 == */cli/* ]] || grep -qE '^#include ("(emulator|user)/cli/|<CLI/)' "$1"
}

tidy() {
  local arch checks='' flags=(-I. -Iinclude -Ibuild -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DOVT_ZSTD
    '-DOVNITRACE_VERSION="lint"')
  case $2 in
  *.bpf.c)
    arch=$(uname -m | sed -e s/x86_64/x86/ -e s/aarch64/arm64/)
    flags=(-std=gnu11 -target bpf -mcpu=v3 "-D__TARGET_ARCH_$arch" -Iinclude -Ibpf -I.)
    ;;
  *.c) flags+=(-std=gnu11) ;;
  *) flags+=(-std=c++20) ;;
  esac
  uses_cli11 "$2" && checks=-performance-unnecessary-value-param
  clang-tidy --quiet --config-file=.clang-tidy --checks="$checks" "$1" -- "${flags[@]}" 2>/dev/null
}

# Joins files to a unit: join UNIT FILE…
# UNIT.map says where each file starts. Each program keeps its entry under a name of its own. An alias
# that an earlier file declares is left out, because only one of the two would count as used.
join() {
  awk -v map="$1.map" '
    FNR == 1 {
      files++
      for (i = split("main LLVMFuzzerTestOneInput", entries, " "); i; i--)
        printf "#undef %s\n#define %s %s%d\n", entries[i], entries[i], entries[i], files
      print NR - 1 + 4 * files, FILENAME >map
    }
    /^namespace [a-z]+ = / && declared[$0]++ { $0 = "" }
    { print }' "${@:2}" >"$1"
}

# Replaces places in a unit by those in its files.
places_in_files() {
  awk -v unit="$1:" '
    NR == FNR { start[++count] = $1; file[count] = $2; next }
    index($0, unit) == 1 {
      line = substr($0, length(unit) + 1)
      rest = substr(line, index(line, ":"))
      line += 0
      for (i = count; start[i] >= line; i--);
      $0 = file[i] ":" line - start[i] rest
    }
    { print }' "$1.map" -
}

# Checks the files of one unit, or of each half of it where they do not compile together.
check() {
  local unit=$1 log status
  if [ $# -gt 1 ]; then
    unit=$(mktemp "$work/XXXXXX.cpp")
    join "$unit" "$@"
  fi
  log=$(tidy "$unit" "$1")
  status=$?
  if [ $# -gt 1 ]; then
    if [[ $log == *clang-diagnostic-error* ]]; then
      check "${@:1:$# / 2}" && status=0
      check "${@:$# / 2 + 1}" || status=1
      return "$status"
    fi
    log=$(places_in_files "$unit" <<<"$log")
  fi
  [ -z "$log" ] || printf '%s\n' "$log"
  return "$status"
}
export -f check join places_in_files tidy uses_cli11

c=() cli=() others=()
for file; do
  case $file in
  *.c) c+=("$file") ;;
  *) if uses_cli11 "$file"; then cli+=("$file"); else others+=("$file"); fi ;;
  esac
done
{
  MOST=40 scripts/units.sh "${others[@]}"
  MOST=40 scripts/units.sh "${cli[@]}"
  [ ${#c[@]} -eq 0 ] || printf '%s\n' "${c[@]}"
} | xargs -P "$(nproc)" -L 1 bash -c 'check "$@"' check
