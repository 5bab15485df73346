#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Joins C++ files to units of up to 32, which read the headers and make the templates once.
#   units.sh FILE…            prints a line for each unit: its files
#   units.sh -w PREFIX FILE…  writes each unit that has changed, PREFIX-N.cpp, and prints the names
#                             (a file that is alone keeps its own name)
# Files of a unit are of one tree, share the precompiled header, and meet no name of an anonymous
# namespace twice, neither their own nor that of another file. The Makefile and scripts/tidy.sh call
# this.
set -euo pipefail
prefix=
if [ "${1:-}" = -w ]; then
  prefix=$2
  shift 2
  mkdir -p "$(dirname "$prefix")"
fi
[ $# -gt 0 ] || exit 0

# Writes a unit: write NUMBER FILE…
write() {
  local text name
  [ $# -gt 2 ] || { echo "$2" && return; }
  name=$prefix-$1
  if grep -q '^#include <nlohmann/json.hpp>' "$2"; then name+=.json; fi
  name+=.cpp
  shift
  text=$(printf '#include "%s"\n' "$@")
  [ -e "$name" ] && [ "$text" = "$(<"$name")" ] || printf '%s\n' "$text" >"$name"
  echo "$name"
}

awk -v most="${MOST:-32}" '
  FNR == 1 { files[++count] = FILENAME; hidden = 0; kind[count] = "" }
  /^#include <nlohmann\/json.hpp>/ { kind[count] = "json" }
  /^namespace \{/ { hidden = 1; next }
  /^\} \/\/ namespace$/ { hidden = 0 }
  { sub(/(^|[ \t])\/\/.*/, "") }
  {
    if (hidden && /^[A-Za-z_]/ && !/^(TEST|INSTANTIATE|static_assert|using|template|enum [:{])/) {
      name = $0
      if (name ~ /^(struct|class|enum|union) /) sub(/( final)? *[:{;].*/, "", name)
      sub(/ *[][({=;].*/, "", name)
      if (name !~ /::[A-Za-z_0-9]+$/) {
        sub(/.*[^A-Za-z_0-9]/, "", name)
        names[count] = names[count] " " name
      }
    }
    line = $0
    gsub(/"([^"\\]|\\.)*"/, "", line)
    before = ""
    while (match(line, /[A-Za-z_][A-Za-z_0-9]*/)) {
      word = substr(line, RSTART, RLENGTH)
      if (RSTART > 1) before = substr(line, RSTART - 1, 1)
      line = substr(line, RSTART + RLENGTH)
      # Members, and variables, which hide an outer name, do not meet one.
      if (before !~ /[.>]/ && (word ~ /^k?[A-Z]/ || line ~ /^ *[(<{]/) && !((count, word) in seen)) {
        seen[count, word]
        words[count] = words[count] " " word
      }
      before = ""
    }
  }
  END {
    for (i = 1; i <= count; i++) {
      tree = files[i]
      sub(/\/[^\/]*$/, "", tree)
      if (tree !~ /^tests|cli$/ || (kind[i] != "" && tree !~ /^tests/)) sub(/\/.*/, "", tree)
      tree = tree kind[i]
      for (u = 1; u <= units; u++) if (trees[u] == tree && sizes[u] < most && fits(i, u)) break
      if (u > units) { units = u; trees[u] = tree }
      sizes[u]++
      list[u] = list[u] " " files[i]
      n = split(words[i], all, " ")
      for (k = 1; k <= n; k++) used[u, all[k]]
      n = split(names[i], all, " ")
      for (k = 1; k <= n; k++) { used[u, all[k]]; taken[u, all[k]] }
    }
    for (u = 1; u <= units; u++) print substr(list[u], 2)
  }
  function fits(i, u,   n, k, all) {
    n = split(names[i], all, " ")
    for (k = 1; k <= n; k++) if ((u, all[k]) in used) return 0
    n = split(words[i], all, " ")
    for (k = 1; k <= n; k++) if ((u, all[k]) in taken) return 0
    return 1
  }' "$@" | {
  [ -n "$prefix" ] || exec cat
  number=0
  while read -ra files; do write $((++number)) "${files[@]}"; done
}
