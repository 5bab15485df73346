#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Prints docs/kernels.md: what the results of run.sh in build/kernels/results say of each feature of
# features.txt on each kernel.
set -eu
cd "$(dirname "$0")/../.."
mapfile -t results < <(printf '%s\n' build/kernels/results/* | sort -V)

cat <<'TEXT'
# Kernels

This page is a reference: what works on which kernel. `make test-kernels` boots each kernel in QEMU,
runs the captures of `tests/kernels/features.txt` there as root, and writes this page. Linux 6.18 is
not in the table, because the machines that run the whole test suite have it.
[capture.md](capture.md#kernels) lists the differences between kernels.

| cell | means |
|---|---|
| yes | the tests of this feature passed. The last table says which patterns of `features.txt` ran |
| in part | at least one test was skipped, because the kernel or the virtual machine lacks what the test needs. The others passed |
| refused | the kernel lacks what the feature needs, and ovnitrace says so |
| no | this test failed |
| not run | no test of this feature has run on this kernel |

TEXT

# Results first, then the features: a line of the table for each.
awk '
  function matches(name, patterns,   list, n, i) {
    n = split(patterns, list, ":")
    for (i = 1; i <= n; i++) {
      gsub(/\./, "\\.", list[i]); gsub(/\*/, ".*", list[i])
      if (name ~ "^" list[i] "$") return 1
    }
    return 0
  }
  # What the runs of a kernel with different numbers of CPUs say together.
  function cell(kernel, patterns,   name, part, count) {
    for (name in status) {
      split(name, part, SUBSEP)
      if (part[1] != kernel || !matches(part[3], patterns)) continue
      if (status[name] == "FAILED") return "no: " part[3] " (" part[2] " CPUs)"
      count[status[name]]++
    }
    if (count["SKIPPED"]) return count["OK"] ? "in part" : "refused"
    return count["OK"] ? "yes" : "not run"
  }
  FNR == 1 && FILENAME !~ /features/ {
    kernel = cpus = FILENAME; sub(/.*\./, "", cpus); sub(/.*\//, "", kernel); sub(/\.[0-9]+$/, "", kernel)
    if (!(kernel in package)) { kernels[++n] = kernel; head = head " | " kernel; rule = rule "|---" }
    package[kernel] = $2; ran[kernel] = $3 ? "the first pattern of each row" : "all"; counts[kernel] = counts[kernel] (counts[kernel] ? ", " : "") cpus; next
  }
  FILENAME !~ /features/ { status[kernel, cpus, $2] = $1; next }
  /^#/ { next }
  !begun++ { print "| feature" head " |"; print "|---" rule "|" }
  {
    at = index($0, " | "); line = "| " substr($0, 1, at - 1)
    for (i = 1; i <= n; i++) line = line " | " cell(kernels[i], substr($0, at + 3))
    print line " |"
  }
  END {
    print "\n| kernel | package | CPUs of the machine | tests that ran |\n|---|---|---|---|"
    for (i = 1; i <= n; i++) print "| " kernels[i] " | `" package[kernels[i]] "` | " counts[kernels[i]] " | " ran[kernels[i]] " |"
  }' "${results[@]}" tests/kernels/features.txt
