#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Prints the HTML page made of the files in page/, as a C++ string literal. The style sheet and all
# modules go into index.html, with their hashes in its Content-Security-Policy. Each module comes
# after those that it imports. An import is one line, and no two modules import each other. All
# modules share one scope, so no two of them may declare the same name at the top level.
set -eu
cd "$(dirname "$0")/page"

css=$(cat style.css)
modules=$(for module in *.js; do
  sed -n "s|^import .* from './\(.*\)';|\1 $module|p" "$module"
done | tsort)
# shellcheck disable=SC2086 # one argument a module
js=$(sed -e '/^import /d' -e 's/^export //' -e '/^\/\/ SPDX-/d' $modules)

hash_of() {
  printf 'sha256-'
  printf '%s' "$1" | sha256sum | cut -c 1-64 | tr a-f A-F | basenc --base16 -d | base64
}

page=$(<index.html)
page=${page/@STYLE_HASH@/$(hash_of "$css")}
page=${page/@SCRIPT_HASH@/$(hash_of "$js")}
before=${page%%@STYLE@*} after=${page#*@STYLE@}
page=$before$css$after
before=${page%%@SCRIPT@*} after=${page#*@SCRIPT@}
printf 'R"ovnitrace(%s%s%s\n)ovnitrace"\n' "$before" "$js" "$after"
