#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Builds targets of the Makefile with all CPUs, and prints each step with its number: build.sh TARGET…
# Nothing is printed where all of it is there.
set -euo pipefail
cd "$(dirname "$0")/.."
make=${MAKE:-make}

# A build from nothing compiles files together, which the Makefile explains at UNITS.
[ -e build/obj ] || mkdir -p build/units

# What each rule would print: a step each, a good second of a CPU on a common machine, or six for a
# unit.
plan=$("$make" --no-print-directory -n "$@" | grep '^echo "  [A-Z]' || :)
if [ -n "$plan" ]; then
  cpus=$(nproc) steps=$(wc -l <<<"$plan") units=$(grep -c build/units/ <<<"$plan" || :)
  echo "build: $steps steps on $cpus CPUs, about $(((steps * 5 / 4 + units * 5) / cpus / 60 + 1)) min"
fi

jobs=
case " ${MAKEFLAGS:-} " in
*' -j'* | *jobserver*) ;; # a make above this one says
*) jobs=-j$(nproc) ;;
esac
number() {
  local step=0 line
  while IFS= read -r line; do
    [[ $line != "  "[A-Z]* ]] || line="[$((++step))/${steps:-0}]$line"
    printf '%s\n' "$line"
  done
}
# shellcheck disable=SC2086 # none or one
"$make" --no-print-directory $jobs "$@" | number
