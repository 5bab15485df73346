#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Brings the tables of docs/kernels.md up to date: what the results of run.sh in build/kernels/results
# say of each feature of features.txt. Kernels that have no results there keep what the page says.
set -eu
cd "$(dirname "$0")/../.."
page=docs/kernels.md
results=()
for result in build/kernels/results/*; do
  [ ! -f "$result" ] || results+=("$result")
done
kernels=$({
  printf '%s\n' "${results[@]}" | sed -E 's/.*\/(.*)\.[0-9]+$/\1/'
  sed -n 's/^| feature |//p' "$page" | tr -d ' ' | tr '|' '\n'
} | grep . | sort -V | uniq | paste -sd' ')

# Results first, then the features, then the page.
awk -v order="$kernels" '
  function matches(name, patterns,   list, n, i) {
    n = split(patterns, list, ":")
    for (i = 1; i <= n; i++) {
      gsub(/\./, "\\.", list[i]); gsub(/\*/, ".*", list[i])
      if (name ~ "^" list[i] "$") return 1
    }
    return 0
  }
  # What the runs of a kernel with different numbers of CPUs say together.
  function cell(kernel, feature,   name, part, count) {
    if (!(kernel in package)) return (feature, kernel) in old ? old[feature, kernel] : "not run"
    for (name in status) {
      split(name, part, SUBSEP)
      if (part[1] != kernel || !matches(part[3], patterns[feature])) continue
      if (status[name] == "FAILED") return "no: " part[3] " (" part[2] " CPUs)"
      count[status[name]]++
    }
    if (count["SKIPPED"]) return count["OK"] ? "in part" : "refused"
    return count["OK"] ? "yes" : "not run"
  }
  function print_features(   i, f, line, rule) {
    line = "| feature"; rule = "|---"
    for (i = 1; i <= n; i++) { line = line " | " kernel[i]; rule = rule "|---" }
    print line " |\n" rule "|"
    for (f = 1; f <= features; f++) {
      line = "| " feature[f]
      for (i = 1; i <= n; i++) line = line " | " cell(kernel[i], feature[f])
      print line " |"
    }
  }
  function print_kernels(   i, k) {
    print "| kernel | package | CPUs of the machine | tests that ran |\n|---|---|---|---|"
    for (i = 1; i <= n; i++) {
      k = kernel[i]
      print k in package ? "| " k " | `" package[k] "` | " counts[k] " | " ran[k] " |" : old_row[k]
    }
  }
  BEGIN { FS = " *[|] *"; n = split(order, kernel, " ") }
  FILENAME ~ /results/ && FNR == 1 {
    name = cpus = FILENAME; sub(/.*\./, "", cpus); sub(/.*\//, "", name); sub(/\.[0-9]+$/, "", name)
    split($0, word, " ")
    package[name] = word[2]
    ran[name] = word[3] ? "the first pattern of each row" : "all"
    counts[name] = counts[name] (counts[name] ? ", " : "") cpus
    next
  }
  FILENAME ~ /results/ { split($0, word, " "); status[name, cpus, word[2]] = word[1]; next }
  FILENAME ~ /features/ {
    if (/^#/) next
    at = index($0, " | "); feature[++features] = substr($0, 1, at - 1)
    patterns[feature[features]] = substr($0, at + 3)
    next
  }
  /^\| feature / { table = 1; for (i = 3; i < NF; i++) column[i] = $i }
  /^\| kernel / { table = 2 }
  !/^\|/ {
    if (table == 1) print_features()
    if (table == 2) print_kernels()
    table = 0
  }
  table == 1 { for (i = 3; i < NF; i++) old[$2, column[i]] = $i; next }
  table == 2 { old_row[$2] = $0; next }
  { print }
  END { if (table == 2) print_kernels() }' \
  ${results[@]+"${results[@]}"} tests/kernels/features.txt "$page" >build/kernels/page.md
mv build/kernels/page.md "$page"
