#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Gets the kernels that end-to-end tests are run on beside the machine's own: build/kernels/NAME/vmlinuz,
# taken out of Debian's packages, which are not installed. Prints a line for each: NAME, and `ready` or why
# it is not.
set -u
cd "$(dirname "$0")/../.." || exit 1

# name    package                        what is special
table() {
  cat <<'TABLE'
6.1       linux-image-cloud-amd64        Debian 12's own
6.1-rt    linux-image-rt-amd64           PREEMPT_RT: interrupts and softirqs are threads
6.12      linux-image-6.12-cloud-amd64   preempt_count in pcpu_hot, as from 6.2 to 6.14
TABLE
}

# These packages are empty: each depends on the one that has the newest such kernel.
newest() {
  apt-cache depends "$1" 2>/dev/null | awk '$1 == "Depends:" && $2 ~ /^linux-image/ { print $2; exit }'
}

fetch() {
  local name=$1 package dir=build/kernels/$1
  package=$(newest "$2")
  [ -n "$package" ] || return 1
  [ "$(cat "$dir/package" 2>/dev/null)" = "$package" ] && return
  rm -rf "$dir" && mkdir -p "$dir" &&
    (cd "$dir" && apt-get -q -o APT::Sandbox::User=root download "$package" >apt.log 2>&1) &&
    dpkg-deb --fsys-tarfile "$dir"/*.deb | tar -x -O --wildcards './boot/vmlinuz-*' >"$dir/vmlinuz" &&
    rm -f "$dir"/*.deb && echo "$package" >"$dir/package"
}

table | while read -r name package _; do
  if fetch "$name" "$package"; then
    echo "$name ready"
  else
    rm -rf "build/kernels/$name"
    echo "$name the package $package cannot be had"
  fi
done
