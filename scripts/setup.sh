#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Installs what is missing to build ovnitrace (scripts/setup.sh build), also to test it (no
# argument), or also to test it on other kernels (scripts/setup.sh kernels). For Debian 12 and its
# like, as root or with sudo. Where nothing is missing it calls neither apt nor sudo. It needs no
# make, since it may be what installs it.
set -eu

# for   package          what for
table() {
  cat <<'TABLE'
build   make               runs the Makefile
build   g++                the command and the emulator, C++20
build   clang              the eBPF programs
build   bpftool            their skeletons
build   libbpf-dev         loads them
build   libelf-dev         libbpf reads its objects with it
build   libdw-dev          symbols and debug data of functions on stacks
build   libiberty-dev      demangles names of C++ and Rust
build   libzydis-dev       decodes x86 instructions for --control
build   zlib1g-dev         libbpf and .prv.gz
build   libzstd-dev        compressed chunks
build   libsqlite3-dev     `export --to sqlite`
build   libgnutls28-dev    TLS for senders and collectors that share a key
build   libmicrohttpd-dev  `ovnitrace top --metrics`
build   libseccomp-dev     denies system calls
build   libfmt-dev         text
build   libncurses-dev     `ovnitrace top`
build   libcli11-dev       the command line
build   libprotozero-dev   Perfetto's format
build   nlohmann-json3-dev trace.json
test    libgtest-dev       the tests
test    libclang-rt-dev    clang's sanitizers and libFuzzer
test    libcap2-bin        setcap: capturing with two capabilities
test    linux-perf         a second tracer beside ours
test    valgrind           translates a program beside a capture with --control
test    lowdown            manual pages of file formats, from docs/
test    mandoc             checks manual pages
test    man-db             shows them
test    zsh                its completion
test    fish               its completion
test    procps             pgrep
test    xz-utils           compressed symbols of ELF files, lists of packages of kernels
test    dwz                debug data that files share
test    chromium           the report page in a real browser
test    clang-format       `make lint`
test    clang-tidy         `make lint`
test    shellcheck         `make lint`: scripts
test    node-typescript    `make lint`: the modules of the report page
test    nodejs             the same modules in unit tests
test    python3-clang      `scripts/mutate.sh`: the syntax tree
test    lld                `scripts/mutate.sh`: links fast
kernels qemu-system-x86    boots other kernels
kernels busybox-static     all that runs there beside the tests
kernels cpio               packs it
kernels curl               gets the kernels
TABLE
  [ "$(uname -m)" != x86_64 ] || echo 'test g++-multilib a program for i386'
}

die() {
  printf 'setup: %s\n' "$@" >&2
  exit 1
}

wanted() {
  case ${1:-all} in
  build) table | awk '$1 == "build" { print $2 }' ;;
  all) table | awk '$1 != "kernels" { print $2 }' ;;
  kernels) table | awk '{ print $2 }' ;;
  *) echo "usage: scripts/setup.sh [build|all|kernels]" >&2 && exit 2 ;;
  esac
}

missing() {
  for package in $1; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=none
    [ "$status" = installed ] || echo "$package"
  done
}

packages=$(wanted "$@" | tr '\n' ' ')
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  die "this is no Debian-like system (no dpkg-query or apt-get): nothing was installed." \
    "Install by hand what these Debian 12 packages hold, then run \`make\`, which needs no set-up:" \
    "  $packages"
fi

packages=$(missing "$packages" | tr '\n' ' ')
[ -n "$packages" ] || exit 0

root=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || die "missing packages, and neither root nor sudo to install them." \
    "Run as root:" "  apt-get update && apt-get install --no-install-recommends $packages"
  root=sudo
fi

apt() {
  $root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 \
    -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 "$@"
}

echo "setup: installing $(wc -w <<<"$packages") packages, 1 to 5 min, depending on the network: $packages"
# A third-party source that fails to update need not matter: the install will say.
apt update || echo "setup: apt-get update failed; going on with the package lists that are there" >&2
for pause in 5 15 0; do
  # shellcheck disable=SC2086 # one argument a package
  apt install --no-install-recommends $packages && break
  [ "$pause" -ne 0 ] || die "apt-get could not install: $packages" \
    "What it says above is why. Fix that, or install them by hand, and run this again."
  echo "setup: trying again in $pause s" >&2
  sleep "$pause"
done

left=$(missing "$packages" | tr '\n' ' ')
[ -z "$left" ] || die "apt-get reported success, yet these are not installed: $left"
echo "setup: done"
