#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs clang-tidy (.clang-tidy) on the sources that are named, on all CPUs: tidy.sh FILE…
# Most of the time goes to headers. C++ files that share no name are therefore joined to units of up to
# twenty files, which read the headers once. Exit status 1 if anything is found. `make lint` runs this.
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export work

# Prints a line for each unit: its files. A file joins the first unit of its tree where it meets no name
# of an anonymous namespace twice, its own or that of another file.
units() {
  awk -v most=20 '
    FNR == 1 { files[++count] = FILENAME; hidden = 0 }
    /^namespace \{/ { hidden = 1; next }
    /^\} \/\/ namespace$/ { hidden = 0 }
    {
      if (hidden && /^[A-Za-z_]/ && !/^(TEST|INSTANTIATE|using namespace|template)/) {
        name = $0
        if (name ~ /^(struct|class|enum|union) /) sub(/ *[:{;].*/, "", name)
        sub(/ *[][({=;].*/, "", name)
        if (name !~ /::[A-Za-z_0-9]+$/) {
          sub(/.*[^A-Za-z_0-9]/, "", name)
          names[count] = names[count] " " name
        }
      }
      if (/ main\(/ || /LLVMFuzzerTestOneInput/) names[count] = names[count] " main LLVMFuzzerTestOneInput"
      line = $0
      while (match(line, /[A-Za-z_][A-Za-z_0-9]*/)) {
        word = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        if (!((count, word) in seen)) {
          seen[count, word]
          words[count] = words[count] " " word
        }
      }
    }
    END {
      for (i = 1; i <= count; i++) {
        tree = files[i]
        sub(/\/[^\/]*$/, "", tree)
        if (tree !~ /^tests/) sub(/\/.*/, "", tree)
        for (u = 1; u <= units; u++) if (trees[u] == tree && sizes[u] < most && fits(i, u)) break
        if (u > units) { units = u; trees[u] = tree }
        sizes[u]++
        list[u] = list[u] " " files[i]
        n = split(words[i], all, " ")
        for (k = 1; k <= n; k++) used[u, all[k]]
        n = split(names[i], all, " ")
        for (k = 1; k <= n; k++) taken[u, all[k]]
      }
      for (u = 1; u <= units; u++) print substr(list[u], 2)
    }
    function fits(i, u,   n, k, all) {
      n = split(names[i], all, " ")
      for (k = 1; k <= n; k++) if ((u, all[k]) in used) return 0
      n = split(words[i], all, " ")
      for (k = 1; k <= n; k++) if ((u, all[k]) in taken) return 0
      return 1
    }' "$@"
}

tidy() {
  local arch flags=(-I. -Iinclude -Ibuild -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DOVT_ZSTD
    '-DOVNITRACE_VERSION="lint"')
  case $2 in
  *.bpf.c)
    arch=$(uname -m | sed -e s/x86_64/x86/ -e s/aarch64/arm64/)
    flags=(-std=gnu11 -target bpf -mcpu=v3 "-D__TARGET_ARCH_$arch" -Iinclude -Ibpf -I.)
    ;;
  *.c) flags+=(-std=gnu11) ;;
  *) flags+=(-std=c++20) ;;
  esac
  clang-tidy --quiet --config-file=.clang-tidy "$1" -- "${flags[@]}" 2>/dev/null
}

# Joins files to a unit; where each starts in it is in UNIT.map: join UNIT FILE…
join() {
  awk -v map="$1.map" 'FNR == 1 { print NR - 1, FILENAME >map } { print }' "${@:2}" >"$1"
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
export -f check join places_in_files tidy

single=() together=()
for file; do
  case $file in
  *.c) single+=("$file") ;;
  *) together+=("$file") ;;
  esac
done
{
  [ ${#together[@]} -eq 0 ] || units "${together[@]}"
  [ ${#single[@]} -eq 0 ] || printf '%s\n' "${single[@]}"
} | xargs -P "$(nproc)" -L 1 bash -c 'check "$@"' check
