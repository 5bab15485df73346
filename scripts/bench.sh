#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs every benchmark that `make bench` built, one after the other, since each wants the machine for
# itself. Exit status 1 if any failed.
set -u
cd "$(dirname "$0")/.." || exit 1

root=
if [ "$(id -u)" -ne 0 ] && command -v sudo >/dev/null && sudo true; then
  root=sudo
fi

failed=0 ran=0
for bench in build/tests/bench/*; do
  if [ ! -f "$bench" ] || [ ! -x "$bench" ]; then continue; fi
  ran=$((ran + 1))
  echo "== $bench"
  $root "$bench" || { echo "bench: $bench ended with status $?" >&2; failed=$((failed + 1)); }
done
[ "$ran" -gt 0 ] || echo "bench: nothing in build/tests/bench: run \`make bench\`" >&2
[ "$failed" -eq 0 ] && [ "$ran" -gt 0 ]
