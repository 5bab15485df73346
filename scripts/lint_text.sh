#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Checks the English of the documentation and of comments: lint_text.sh [PATH…]. A file is
# checked always, a folder without lint_text_test.sh. It prints FILE:LINE: and what is wrong:
#   - the words of scripts/words.txt, with what to write
#   - a sentence of more than 30 words
#   - a sentence that opens with "Of", "So" or "For that"
# Code, tables and quoted output are not sentences; in tables only the words are checked. In string
# literals only the words are checked, too. Exit status 1 if anything is wrong. `make lint` runs this.
set -u
cd "$(dirname "$0")/.." || exit 1

files=()
for path in "${@:-.}"; do
  if [ -f "$path" ]; then
    files+=("$path")
    continue
  fi
  while IFS= read -r file; do
    files+=("$file")
  done < <(git ls-files -- "$path" | grep -E '(\.(md|c|cpp|h|js|css|sh|yml)|Makefile|\.ci/run)$' |
    grep -vx tests/scripts/lint_text_test.sh) # the examples in this file are faults
done
[ ${#files[@]} -gt 0 ] || exit 0

awk '
  # The word list. A phrase is found by its first word.
  FILENAME == "scripts/words.txt" {
    if (/^#/ || !/ = /) next
    n = split($0, halves, " = ")
    first = halves[1]
    sub(/ .*/, "", first)
    phrases[first] = phrases[first] halves[1] "\n"
    instead[halves[1]] = halves[2]
    next
  }
  FNR == 1 { finish(); fenced = 0; after_blank = 1; block = 0; markdown = FILENAME ~ /\.md$/; file = FILENAME
             hashes = FILENAME ~ /(\.sh|\.yml|Makefile|run)$/ }
  markdown { read_markdown($0); next }
  { read_comment($0) }
  END { finish(); exit found }

  function read_markdown(line) {
    if (line ~ /^ *```/) { finish(); fenced = !fenced; return }
    if (fenced) return
    if (line ~ /^[ \t]*$/) { finish(); after_blank = 1; return }
    if (line ~ /^(    |\t)/ && after_blank) return
    after_blank = 0
    if (line ~ /^ *\|/ || line ~ /^[>#!]/) {
      finish()
      if (line !~ /^[>!]/) { add(line); finish_words() }
      return
    }
    if (line ~ /^ *([-*]|[0-9]+\.) /) { finish(); sub(/^ *([-*]|[0-9]+\.) /, "", line) }
    add(line)
  }

  function read_comment(line,   text) {
    text = line
    if (hashes) {
      if (text ~ /^[ \t]*#[^!]/ || text ~ /^[ \t]*#$/) { sub(/^[ \t]*# ?/, "", text); comment_line(text) }
      else finish()
      return
    }
    if (block || text ~ /^[ \t]*\/\*/) {
      block = text !~ /\*\//
      gsub(/^[ \t]*\/?\*+|\*\/.*/, "", text)
      comment_line(text)
    } else if (text ~ /^[ \t]*\/\//) {
      sub(/^[ \t]*\/\/+ ?/, "", text)
      comment_line(text)
    } else {
      finish()
      if (match(text, /; *\/\/ /)) { add(substr(text, RSTART + RLENGTH)); finish() }
      while (match(text, /"([^"\\]|\\.)*"/)) {
        add(substr(text, RSTART + 1, RLENGTH - 2))
        finish_words()
        text = substr(text, RSTART + RLENGTH)
      }
    }
  }

  # A line that is indented or empty is a list, a table or the end of a paragraph.
  function comment_line(text) {
    if (text ~ /^ ?[ \t]|^$|^[-*] |^SPDX|shellcheck/) finish()
    if (text !~ /^ ? [ \t]|^SPDX|shellcheck/) add(text)
  }

  # Adds the words of a line to the paragraph. Inline code counts as one word, a link as its text.
  function add(line,   n, i, parts) {
    gsub(/``[^`]*``/, "CODE", line)
    gsub(/`[^`]*`/, "CODE", line)
    if (line ~ /`/) { # inline code that goes on in the next line
      if (open) sub(/^[^`]*`/, "", line)
      open = sub(/`[^`]*$/, "CODE", line)
    } else if (open) line = ""
    gsub(/\]\([^)]*\)/, "", line)
    gsub(/["*|\[\]()_]+/, " ", line)
    n = split(line, parts, /[ \t]+/)
    for (i = 1; i <= n; i++) {
      if (parts[i] == "" || parts[i] ~ /^[-–—=+<>\/·]+$/) continue
      word[++words] = parts[i]
      at[words] = FNR
    }
  }

  function finish(   i, start) {
    start = 1
    for (i = 1; i <= words; i++)
      if (i == words || (word[i] ~ /[.!?]$/ && word[i] !~ /^(e\.g|i\.e|vs)\.$/)) {
        sentence(start, i)
        start = i + 1
      }
    finish_words()
  }

  function sentence(from, to) {
    if (to - from + 1 > 30) report(at[from], "a sentence of " (to - from + 1) " words; at most 30")
    if (word[from] == "Of" || word[from] == "So" || (word[from] == "For" && word[from + 1] == "that"))
      report(at[from], "a sentence opens with \"" (word[from] == "For" ? "For that" : word[from]) "\"")
  }

  function finish_words(   i, k, n, list, bare) {
    for (i = 1; i <= words; i++) {
      bare = plain(word[i])
      if (!(bare in phrases)) continue
      n = split(phrases[bare], list, "\n")
      for (k = 1; k < n; k++)
        if (matches(list[k], i)) report(at[i], "\"" list[k] "\": write " instead[list[k]])
    }
    words = 0
    open = 0
  }

  function matches(phrase, i,   n, k, parts) {
    n = split(phrase, parts, " ")
    for (k = 1; k <= n; k++) if (i + k - 1 > words || plain(word[i + k - 1]) != parts[k]) return 0
    return 1
  }

  function plain(text) {
    text = tolower(text)
    gsub(/[^a-z-]/, "", text)
    return text
  }

  function report(line, what) {
    print file ":" line ": " what
    found = 1
  }' scripts/words.txt "${files[@]}"
