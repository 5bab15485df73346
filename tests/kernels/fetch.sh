#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Gets the kernels that end-to-end tests are run on beside the machine's own: build/kernels/NAME/vmlinuz,
# taken out of packages of Debian and Ubuntu, which are not installed: fetch.sh [NAME…]. Without names, it
# gets those for x86-64. Prints a line for each: NAME, and `ready` or why it is not. Signatures are not
# checked: the kernels run in QEMU only.
set -u
cd "$(dirname "$0")/../.." || exit 1
mkdir -p build/kernels
cache=$PWD/build/kernels

# name    suite                                    package, its newest version    what is special
table() {
  cat <<'TABLE'
5.15      ubuntu/dists/jammy-updates               linux-image-unsigned-5.15.0-[0-9+.a-z]*-generic  the oldest that works
5.19      ubuntu/dists/jammy-updates               linux-image-unsigned-5.19.0-[0-9+.a-z]*-generic  no sleepable uprobes yet
6.1       debian-security/dists/bookworm-security  linux-image-6.1.0-[0-9+.a-z]*-cloud-amd64        Debian 12's own
6.1-rt    debian-security/dists/bookworm-security  linux-image-6.1.0-[0-9+.a-z]*-rt-amd64           PREEMPT_RT: interrupts and softirqs are threads
6.8       ubuntu/dists/noble-updates               linux-image-unsigned-6.8.0-[0-9+.a-z]*-generic   Ubuntu 24.04's own
6.12      debian-security/dists/bookworm-security  linux-image-6.12.[0-9+.a-z]*-cloud-amd64         preempt_count in pcpu_hot, as from 6.2 to 6.14; a stack is a number for the verifier, as from 6.2 to 6.16
6.12-rt   debian-security/dists/bookworm-security  linux-image-6.12.[0-9+.a-z]*-rt-amd64            the same, with PREEMPT_RT
6.19      debian/dists/trixie-backports            linux-binary-6.19.[0-9+.a-z]*-cloud-amd64
7.0       debian/dists/trixie-backports            linux-binary-7.0.[0-9+.a-z]*-cloud-amd64         programs of tracepoints can be preempted
7.1       debian/dists/trixie-backports            linux-binary-7.1.[0-9+.a-z]*-cloud-amd64         hrtimer_expire_entry with a time
7.2       debian/dists/trixie-backports            linux-binary-7.2.[0-9+.a-z]*-cloud-amd64         on_cpu is a byte
7.3       debian/dists/trixie-backports            linux-binary-7.3.[0-9+.a-z]*-cloud-amd64         preemption count with other bits
7.3-rt    debian/dists/trixie-backports            linux-binary-7.3.[0-9+.a-z]*-rt-amd64            the same, with PREEMPT_RT
6.1-arm64 debian-security/dists/bookworm-security  linux-image-6.1.0-[0-9+.a-z]*-cloud-arm64
7.3-arm64 debian/dists/trixie-backports            linux-binary-7.3.[0-9+.a-z]*-cloud-arm64
TABLE
}

server() {
  case $1 in
  ubuntu/*) echo http://archive.ubuntu.com ;;
  *) echo http://deb.debian.org ;;
  esac
}

# The list of a suite's packages for amd64 or arm64, once a run.
packages() {
  local list=$cache/${1//\//_}.$2.list
  [ -n "$(find "$list" -mmin -60 2>/dev/null)" ] ||
    curl -fsS --retry 3 "$(server "$1")/$1/main/binary-$2/Packages.xz" | xz -dc >"$list" || return
  cat "$list"
}

# "FILE SHA256" of the newest package that matches.
newest() {
  local arch=amd64
  [[ $2 != *-arm64 ]] || arch=arm64
  packages "$1" $arch | awk -v want="^$2\$" '
    /^Package: / { ok = $2 ~ want; name = $2 } /^Filename: / { file = $2 }
    /^SHA256: / { sum = $2 } /^$/ { if (ok) print name, file, sum; ok = 0 }' |
    sort -V | tail -n 1
}

fetch() {
  local dir=$cache/$1 name file sum
  read -r name file sum < <(newest "$2" "$3")
  [ -n "${name:-}" ] || return 1
  [ "$(cat "$dir/package" 2>/dev/null)" = "$name" ] && return
  rm -rf "$dir" && mkdir -p "$dir" &&
    curl -fsS --retry 3 -o "$dir/deb" "$(server "$2")/${2%%/*}/$file" &&
    echo "$sum  $dir/deb" | sha256sum --quiet -c &&
    { dpkg-deb --fsys-tarfile "$dir/deb" | tar -x -O --wildcards '*/vmlinuz*'; } >"$dir/vmlinuz" &&
    [ -s "$dir/vmlinuz" ] && rm "$dir/deb" && echo "$name" >"$dir/package"
}

table | while read -r name suite package _; do
  if [ $# -eq 0 ]; then
    [[ $name != *-arm64 ]] || continue
  else
    [[ " $* " == *" $name "* ]] || continue
  fi
  if fetch "$name" "$suite" "${package//./\\.}" >&2; then
    echo "$name ready"
  else
    rm -rf "${cache:?}/$name"
    echo "$name no package $package can be had"
  fi
done
