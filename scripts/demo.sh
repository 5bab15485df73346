#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Traces the sample program and says what was seen. `make demo` builds what this needs.
set -eu
cd "$(dirname "$0")/.."
trace=build/demo

root=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "demo: tracing needs root, and there is no sudo: run \`make demo\` as root" >&2
    exit 1
  }
  root=sudo
fi

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
