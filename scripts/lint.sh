#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Checks that the code is formatted (.clang-format of each folder) and that clang-tidy finds nothing
# (.clang-tidy). An argument limits both to the files below a path. `make lint` builds what this needs.
set -u
cd "$(dirname "$0")/.." || exit 1
below=${1:-.}
failed=0

mapfile -t code < <(git ls-files -- "$below" | grep -E '\.(c|cpp|h)$')
clang-format --dry-run -Werror "${code[@]}" || { echo "lint: run \`make format\`" >&2; failed=1; }

scripts/lint_rooms.sh || failed=1

# C of the kernel's side is compiled for BPF, which clang-tidy does not know; tests are checked by
# their compiler's warnings and by running.
mapfile -t units < <(git ls-files -- "$below" | grep -E '^(emulator|user)/.*\.(cpp|c)$')
flags=(-I. -Iinclude -Ibuild -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DOVT_ZSTD
  "-DOVNITRACE_VERSION=\"lint\"")
tidy() {
  local standard=gnu11
  [ "${1##*.}" = c ] || standard=c++20
  clang-tidy --quiet "$1" -- "-std=$standard" "${flags[@]}" 2>/dev/null
}
export -f tidy
printf '%s\0' "${units[@]}" |
  FLAGS="${flags[*]}" xargs -0 -P "$(nproc)" -n 1 bash -c 'read -ra flags <<<"$FLAGS"; tidy "$0"' ||
  failed=1
[ "$failed" -eq 0 ] && echo "lint: clean"
exit "$failed"
