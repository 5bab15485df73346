#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Prints a page of docs/ as a manual page of section 5: scripts/doc_man.sh docs/format.md VERSION.
# A row of a table becomes an item of a list, which fits any terminal. SOURCE_DATE_EPOCH sets the
# date.
set -eu
name=ovnitrace-$(basename "$1" .md)
date=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%Y-%m-%d)

lowdown -Tman --nroff-nolinks --parse-no-super "$1" |
  awk -v name="$name" -v date="$date" -v version="$2" '
    function end_cell() { cell[++cells] = text; text = "" }
    function end_row(   n, rest) {
      if (!heads) { heads = cells; for (n = 1; n <= cells; n++) head[n] = cell[n] }
      else {
        rest = cells > 2 ? "" : cell[2]
        for (n = 2; cells > 2 && n <= cells; n++)
          if (cell[n] != "" && cell[n] != "–")
            rest = rest (rest == "" ? "" : "\n.br\n") "\\fI" head[n] ":\\fR " cell[n]
        print ".TP\n\\fB" (cell[1] == "" ? "\\&" : cell[1]) "\\fR\n" (rest == "" ? "\\&" : rest)
      }
      cells = 0
    }
    { gsub(/\\fC/, "\\fB"); sub(/[ \t]+$/, "") }
    /^\.SH$/ {
      getline
      title = tolower(substr($0, 1, 1)) substr($0, 2)
      print ".TH \"" name "\" 5 \"" date "\" \"ovnitrace " version "\" \"File Formats\""
      print ".nh\n.na\n.SH NAME\n" name " \\- " title "\n.SH DESCRIPTION"
      headed = 1
      next
    }
    /^\.SS$/ { getline; gsub(/\\fC/, "\\fB"); print ".SH " (/\\/ ? $0 : toupper($0)); headed = 1; next }
    /^\.(LP|PP)$/ && headed { headed = 0; next }
    /^\.TS$/ { in_table = 1; heads = cells = 0; text = ""; next }
    /^\.TE$/ { in_table = 0; next }
    in_table && /^T\{$/ { text = ""; next }
    in_table && /^T\}\|T\{$/ { end_cell(); next }
    in_table && /^T\}$/ { end_cell(); end_row(); next }
    in_table { if (/^[^.]/ && !/^tab|^l[b l.]*$/) text = text (text == "" ? "" : " ") $0; next }
    { headed = 0; print }
  '
