#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Checks everything that a program can check without running the code. An argument limits the checks to
# the files below a path. TIDY=0 leaves clang-tidy out, which takes most of the time. `make lint` builds
# what this needs, and runs it.
set -u
cd "$(dirname "$0")/.." || exit 1
below=${1:-.}
failed=0

for tool in clang-format clang-tidy shellcheck tsc; do
  command -v "$tool" >/dev/null || { echo "lint: no $tool: run scripts/setup.sh" >&2; exit 1; }
done

# Prints how long a check took, and counts it if it found something.
check() {
  local name=$1 start=$SECONDS result=clean
  shift
  "$@" || { failed=$((failed + 1)); result=FAILED; }
  echo "lint: $name: $result, $((SECONDS - start)) s"
}

# The files below the path whose names match.
files() {
  git ls-files -- "$below" | grep -E "$1"
}

english() {
  scripts/lint_text.sh "$below"
}

# The newest release of the changelog is the version, and every file that states it agrees.
version() {
  local version newest
  version=$(sed -n 's/^VERSION := //p' Makefile)
  newest=$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)
  [ "$version" = "$newest" ] && return
  echo "Makefile says VERSION $version, the newest release in CHANGELOG.md is $newest" >&2
  return 1
}

format() {
  mapfile -t code < <(files '\.(c|cpp|h)$')
  [ ${#code[@]} -eq 0 ] || clang-format --dry-run -Werror "${code[@]}" ||
    { echo "Run \`make format\`." >&2; return 1; }
}

shell() {
  local test
  for test in tests/scripts/*_test.sh; do "$test" || return; done
  mapfile -t scripts < <(files '\.(sh|bash)$|^\.ci/run$')
  [ ${#scripts[@]} -eq 0 ] || shellcheck "${scripts[@]}"
}

# TypeScript's compiler finds names that do not exist, are not used or are declared twice, and code that
# is never reached. The page has no type annotations, so complaints about types (2322 …) are left out.
javascript() {
  mapfile -t modules < <(files '\.js$')
  [ ${#modules[@]} -eq 0 ] && return
  ! tsc --noEmit --allowJs --checkJs --noUnusedLocals --noUnusedParameters --noImplicitReturns \
    --noFallthroughCasesInSwitch --allowUnreachableCode false --target es2022 --lib es2022,dom \
    --module es2022 "${modules[@]}" | grep -E '^[^ ]' | grep -vE 'TS2(322|339|345|363|551|554):'
}

tidy() {
  mapfile -t units < <(files '\.(cpp|c)$')
  [ ${#units[@]} -eq 0 ] || scripts/tidy.sh "${units[@]}"
}

check "English" english
check "version" version
check "clang-format" format
check "scripts" shell
check "JavaScript" javascript
check "rooms" scripts/lint_rooms.sh
[ "${TIDY:-1}" = 0 ] || check "clang-tidy" tidy
[ "$failed" -eq 0 ]
