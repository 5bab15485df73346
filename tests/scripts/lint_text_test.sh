#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Tests scripts/lint_text.sh: a good page passes, and each fault of a bad one is reported with its file
# and line. `make lint` runs this first.
set -u
cd "$(dirname "$0")/../.." || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0

# expect NAME LINES: the check of a file prints exactly these lines, after its name.
expect() {
  local got
  got=$(scripts/lint_text.sh "$dir/$1")
  if [ "$got" != "${2//@/$dir/$1}" ]; then
    printf 'lint_text_test: %s: expected\n%s\ngot\n%s\n' "$1" "${2//@/$dir/$1}" "$got" >&2
    failed=1
  fi
}
thirty='a b c d e f g h i j k l m n o p q r s t u v w x y z and so on it'

cat >"$dir/good.md" <<END
# A page

One ${thirty#a }. Another is \`one two\` [linked](so/far.md), e.g. here.

    So it is mended: $thirty $thirty

| a table | $thirty $thirty |
|---|---|

\`\`\`
Of a hair
\`\`\`
END
expect good.md ''

cat >"$dir/bad.md" <<END
# What was mended

Good. So it ends. It ran. Of two
lines. For that
it waits.

- One $thirty.
- the program is robbed at
  the latest

| it | a hair |
END
expect bad.md '@:1: "mended": write fixed
@:3: a sentence opens with "So"
@:3: a sentence opens with "Of"
@:4: a sentence opens with "For that"
@:7: a sentence of 31 words; at most 30
@:8: "robbed": write preempted
@:8: "at the latest": write no later than
@:11: "a hair": write slightly'

cat >"$dir/bad.cpp" <<END
// So it starts. One $thirty.
int f(); // the mended one
const char *kText = "of one: mended \"twice\" by turns";
int mended = 1; /* no comment of a line of its own */
END
expect bad.cpp '@:1: a sentence opens with "So"
@:1: a sentence of 31 words; at most 30
@:2: "mended": write fixed
@:3: "mended": write fixed
@:3: "by turns": write alternately'

cat >"$dir/bad.sh" <<END
#!/bin/bash
# Of one line
# that goes on.
mended=1 # mended
END
expect bad.sh '@:2: a sentence opens with "Of"'

[ "$failed" -eq 0 ] && echo "lint_text_test: passed"
exit "$failed"
