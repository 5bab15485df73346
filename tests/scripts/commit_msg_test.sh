#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Tests scripts/commit_msg.sh. `make lint` runs this.
set -u
cd "$(dirname "$0")/../.." || exit 1
file=$(mktemp) || exit 1
trap 'rm -f "$file"' EXIT
failed=0

# expect STATUS MESSAGE: the check ends with this status.
expect() {
  printf '%b' "$2" >"$file"
  scripts/commit_msg.sh "$file" 2>/dev/null
  local status=$?
  [ "$status" -eq "$1" ] || { echo "commit_msg_test: status $status for: $2" >&2; failed=1; }
}
long=$(printf 'x%.0s' {1..72})

expect 0 "docs: say why\n\nBecause.\n"
expect 0 "$long\n\nBecause.\n"
expect 0 "# a comment\ndocs: say why\n\nBecause.\n# another\n"
expect 0 "fixup! docs: say why\n"
expect 1 "${long}x\n\nBecause.\n"
expect 1 "docs: say why\n"
expect 1 "docs: say why\n\n# only a comment\n"
expect 1 "docs: say why\nBecause.\n"
expect 1 ""

[ "$failed" -eq 0 ] && echo "commit_msg_test: passed"
exit "$failed"
