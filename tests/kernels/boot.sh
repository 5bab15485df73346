#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Boots build/kernels/KERNEL in QEMU, without help of the processor, and runs a command there as root in
# a copy of this checkout's build: boot.sh KERNEL COMMAND [ARGUMENTS]. GUEST_CPUS and GUEST_SECONDS set
# its CPUs (2) and its longest time (900). Ends with the command's status.
# The output of the command comes through a serial line of its own. The kernel's messages are in
# build/kernels/KERNEL/console.log. A kernel for arm64 runs the build of `make
# CROSS_COMPILE=aarch64-linux-gnu-` with programs and libraries of the Debian in $ARM64_ROOT.
set -eu
cd "$(dirname "$0")/../.."
dir=build/kernels/$1
build=build tools='' strip=strip
case $1 in
*-arm64)
  build=build/aarch64-linux-gnu strip=aarch64-linux-gnu-strip
  tools=${ARM64_ROOT:?CONTRIBUTING.md shows how to make the root of a Debian for arm64}
  # The guest's clock counts its instructions, 8 ns each: no time-out depends on how busy this machine is.
  qemu=(qemu-system-aarch64 -M virt -nic none -icount "shift=3,sleep=off")
  console=ttyAMA0 line=ttyS0 output=(-chardev "stdio,id=out" -device "pci-serial,chardev=out")
  ;;
*) qemu=(qemu-system-x86_64) console=ttyS0 line=ttyS1 output=(-serial stdio) ;;
esac
shift

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
mkdir -p "$root"/{bin,sbin,proc,sys,dev,tmp,etc,root,lib64,usr,w/build/tests/programs}

cp "$tools/bin/busybox" "$root/bin"
for applet in $(/bin/busybox --list); do ln -s busybox "$root/bin/$applet" 2>/dev/null || :; done
# What busybox does otherwise than the tests want it.
for tool in bash env taskset unshare pgrep setcap; do
  path=$(PATH=$tools/usr/bin:$tools/usr/sbin:$tools/sbin:$PATH:/usr/sbin:/sbin command -v "$tool") &&
    rm -f "$root/bin/$tool" && cp -L "$path" "$root/bin"
done
cp $build/ovnitrace $build/tests/e2e_tests "$root/w/build/"
mv "$root/w/build/e2e_tests" "$root/w/build/tests"
$strip "$root/w/build/ovnitrace" "$root/w/build/tests/e2e_tests"
find $build/tests/programs -type f -executable -exec cp -t "$root/w/build/tests/programs" {} +
cp -L $build/libovnitrace.so.0 "$root/w/build"

libraries() {
  find "$root/bin" "$root/w" -type f -exec ldd {} + 2>/dev/null | grep -o '/[^ ]*[^ :]' | grep -v "^$root" | sort -u
}
if [ -n "$tools" ]; then # ldd would have to run them
  mkdir "$root/lib"
  for folder in "$tools"/{usr/,}lib/aarch64-linux-gnu; do # one, or two after `dpkg-deb -x`
    cp -L "$folder"/*.so.* "$root/lib"
  done
else
  # ldd would have to run the 32-bit program, which some hosts refuse.
  for library in $(libraries) /lib/ld-linux.so.2 /lib32/lib{c,gcc_s,m,stdc++}.so.?; do
    [ ! -e "$library" ] || { mkdir -p "$root${library%/*}" && cp -L "$library" "$root$library"; }
  done
fi
cp /etc/passwd /etc/group "$root/etc"

cat >"$root/init" <<'INIT'
#!/bin/sh
mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev
mkdir -p /dev/shm /dev/pts; mount -t devpts none /dev/pts; mount -t tmpfs none /dev/shm; mount -t tmpfs none /tmp; mkdir -p /var/tmp; chmod 1777 /tmp /var/tmp
mount -t cgroup2 none /sys/fs/cgroup
ip link set lo up
export PATH=/bin:/sbin HOME=/root CI=true
cd /w
exec </dev/null >/dev/LINE 2>&1
stty -F /dev/LINE raw
sh /command
echo "guest: status $?"
poweroff -f
INIT
sed -i "s/LINE/$line/" "$root/init"
chmod +x "$root/init"
printf '%q ' "$@" >"$root/command"

# In a file and not through a pipe: busybox's find and cpio would do as well, and gzip saves nothing here.
(cd "$root" && find . | cpio --quiet -o -H newc -R 0:0) >"$dir/initrd"
# One thread for both CPUs. With two, QEMU 7.2 sometimes keeps a translation with an int3 that the kernel
# used while it patched its code, and the guest traps there for ever.
timeout "${GUEST_SECONDS:-900}" "${qemu[@]}" -accel tcg,thread=single -cpu max -smp "${GUEST_CPUS:-2}" -m 2G \
  -no-reboot -display none -monitor none -serial "file:$dir/console.log" "${output[@]}" \
  -kernel "$dir/vmlinuz" -initrd "$dir/initrd" -append "console=$console panic=-1 no_timer_check" </dev/null |
  tee "$dir/output.log"
status=$(sed -n 's/^guest: status //p' "$dir/output.log" | tail -n 1)
exit "${status:-99}" # 99: the guest died, or its time was over
