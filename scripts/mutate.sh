#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Changes the code by rule, one small change at a time, and says which changes no test finds:
#
#   scripts/mutate.sh [--seed N] [--count N] [FOLDER]
#
# 200 mutants of the whole project, or of a folder or file. The same seed on the same sources draws
# the same mutants. scripts/mutate/ works in build/mutate, on a copy of the tree, and starts there
# from what is built here. Most mutants of C++ are in one build, where an environment variable chooses
# one, and only the tests that reach it run. The others have a build each. Survivors are printed as
# diffs. Mutants of bpf/ need root. If root runs this, captures test those of user/, too.
# Exit status 1 if fewer than 95 % of the mutants that are not equivalent are found, or if more than
# 10 % are declared equivalent (tests/equivalent_mutants.txt).
set -eu
cd "$(dirname "$0")/.."
tree=build/mutate/tree

die() {
  printf 'mutate: %s\n' "$@" >&2
  exit 1
}

# Debian's interpreter has Debian's packages.
if ! /usr/bin/python3 -c 'import clang.cindex' 2>/dev/null || ! command -v ld.lld node >/dev/null; then
  die "python3-clang, lld or node is missing: run scripts/setup.sh"
fi

mutate() {
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=scripts exec /usr/bin/python3 -m mutate "$@"
}

case " $* " in *" -h "* | *" --help "*) mutate --help ;; esac

# The first copy keeps times, as that of what is built does. Later ones are newer than any build.
keep=
if [ ! -d "$tree/build" ]; then
  keep=-p
  mkdir -p "$tree/build"
  find build -mindepth 1 -maxdepth 1 ! -name mutate -exec cp -a {} "$tree/build/" \;
fi
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  [ ! -f "$file" ] || cmp -s "$file" "$tree/$file" ||
    { mkdir -p "$tree/$(dirname "$file")" && cp $keep "$file" "$tree/$file"; }
done
(cd "$tree" && find . -path ./build -prune -o -type f -print) | while IFS= read -r file; do
  [ -f "$file" ] || rm "$tree/$file" # it was moved or removed since an earlier run
done

# A mutant is one object, so that the files are not compiled together here. To make, objects that are
# missing are no reason to link again.
if [ -d "$tree/build/units" ]; then
  rm -rf "$tree/build/units" "$tree"/build/{libemulator.a,ovnitrace,ovnitrace-emu,tests/{unit,e2e,browser}_tests}
fi
make -C "$tree" -j"$(nproc)" all test-programs >build/mutate/build.log 2>&1 ||
  die "the copy does not build without a mutant: build/mutate/build.log"
cd "$tree"
mutate "$@"
