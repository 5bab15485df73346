#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The first command on a fresh machine: installs what is missing, builds, traces the sample program
# and prints what was seen. `make demo` runs it.
set -eu
cd "$(dirname "$0")/.."
trace=build/demo

root=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "demo: tracing needs root, and there is no sudo: run scripts/demo.sh as root" >&2
    exit 1
  }
  root=sudo
fi

echo "demo: step 1 of 3: install what is missing to build"
scripts/setup.sh build
echo "demo: step 2 of 3: build (it goes on where an earlier build ended)"
scripts/build.sh all build/tests/programs/sample
echo "demo: step 3 of 3: trace a program for about a second"
echo "demo: ${root:+$root }build/ovnitrace -f -o $trace -- build/tests/programs/sample"
$root build/ovnitrace -f -o "$trace" -- build/tests/programs/sample
echo
build/ovnitrace info "$trace"

cat <<END

The trace is in $trace:
  thread.prv   what the scheduler did to each thread, one row a thread
  cpu.prv      who ran on each CPU, one row a CPU
  cfg/         a Paraver view of each channel of both
Open it in Paraver, then load a view with File > Load Configuration, cfg/thread/state.cfg first:
  wxparaver $PWD/$trace/thread.prv
END
