#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Checks that no file includes a file of a room below its own in the table "Rooms" of
# docs/architecture.md. Prints FILE:LINE for each that does, and for each file that is in no room.
set -eu
cd "$(dirname "$0")/.."

git ls-files -- include bpf emulator user | grep -E '\.(c|cpp|h)$' | xargs grep -nHE '^#include ["<]' |
  awk '
    function room(path,   r) { # the longest room that the path begins with
      for (r = path; sub(/\/[^\/]*$/, "", r);) if (r in order) return r
      return path in order ? path : ""
    }
    NR == FNR { # | `room/` | what it holds |
      if (/^## /) inside = /^## Rooms/
      if (inside && match($0, /^\| `[^`]+`/)) {
        name = substr($0, 4, RLENGTH - 4); sub(/\/$/, "", name); order[name] = ++rooms
      }
      next
    }
    {
      split($0, part, ":"); from = room(part[1])
      match($0, /["<][^">]+/); path = substr($0, RSTART + 1, RLENGTH - 1)
      if (path ~ /^ovnitrace\//) path = "include/" path
      to = room(path)
      if (from == "") { print part[1] ": in no room of docs/architecture.md"; bad = 1 }
      else if (to != "" && order[to] > order[from]) {
        print part[1] ":" part[2] ": " from " includes " path " of " to ", a room below it"; bad = 1
      }
    }
    END { if (!rooms) print "docs/architecture.md: no table of rooms"; exit bad || !rooms }
  ' docs/architecture.md -
