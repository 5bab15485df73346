#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Makes one HTML page of the files in page/, as a C++ string literal on standard output: the style
# sheet and all modules go into index.html, with their hashes in its Content-Security-Policy. A module
# stands behind those that it imports (an import is one line, and no two import each other), and all
# share one scope, so that no two of them may declare the same name at their top.
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
