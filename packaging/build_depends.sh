#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Prints Debian's Build-Depends, from the table of scripts/setup.sh. A cross build needs the libraries
# of both machines: the manual pages are printed by a native command.
set -eu
cd "$(dirname "$0")/.."
sed -n 's/^build  *\([^ ]*\).*/\1/p' scripts/setup.sh | while read -r package; do
  case $package in
  make | g++) ;; # always there
  clang | bpftool | libprotozero-dev) echo "$package:native" ;;
  libcli11-dev | nlohmann-json3-dev) echo "$package" ;; # the same for all machines
  *) echo "$package, $package:native <cross>" ;;
  esac
done | sed 's/$/, /' | tr -d '\n'
echo lowdown
