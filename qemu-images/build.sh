#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# build.sh NAME: makes build/images/NAME, what a guest of that kernel boots from, unless it is there
# and up to date: boot/vmlinuz-*, lib/modules/*, initrd, and version, the kernel's release.
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin
home=$(dirname "$(realpath "$0")")
name=${1:?usage: build.sh NAME, one of $home/kernels}
image=$(dirname "$home")/build/images/$name

# What the guest needs before it can reach the host's files and this script's caller.
early_modules=(virtio_pci virtio_console 9pnet_virtio 9p overlay)

pattern=$(awk -v name="$name" '$1 == name { print $2 }' "$home/kernels")
[ -n "$pattern" ] || { echo "build.sh: no kernel '$name' in $home/kernels" >&2; exit 1; }

# release: the newest release that the pattern names and whose headers are installed.
release() {
	local path
	for path in /usr/src/${pattern/image/headers}; do
		[ -d "$path/include" ] && basename "$path" | sed 's/^linux-headers-//'
	done | sort -V | tail -n 1
}

# download RELEASE FOLDER: the kernel's package; the lists of apt may be missing or older than the archive.
download() {
	local as_root=()
	[ "$(id -u)" = 0 ] || as_root=(sudo)
	(
		cd "$2"
		apt-get -qq download "linux-image-$1" 2>"$2/apt.log" || {
			"${as_root[@]}" apt-get -qq update
			apt-get -qq download "linux-image-$1"
		}
	)
}

# initrd RELEASE IMAGE: busybox, the early modules and init, as a compressed cpio archive.
initrd() {
	local tree file module
	tree=$(mktemp -d)
	mkdir -p "$tree"/{bin,proc,sys,dev,host,memory,modules}
	cp "$(command -v busybox)" "$tree/bin/busybox"
	cp "$home/init" "$tree/init"
	chmod +x "$tree/init"
	for module in "${early_modules[@]}"; do
		modprobe -d "$2" -S "$1" --show-depends "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
		module=$(basename "$file")
		case $file in
		*.xz) module=${module%.xz} && xz -dc "$file" >"$tree/modules/$module" ;;
		*.zst) module=${module%.zst} && zstd -qdc "$file" >"$tree/modules/$module" ;;
		*) cp "$file" "$tree/modules/" ;;
		esac
		echo "$module" >>"$tree/modules/list"
	done
	(cd "$tree" && find . | cpio --quiet -o -H newc | gzip -1) >"$2/initrd"
	rm -r "$tree"
}

mkdir -p "$(dirname "$image")"
exec 9>"$image.lock"
flock 9

release=$(release)
[ -n "$release" ] || { echo "build.sh: no headers for $pattern are installed: make setup" >&2; exit 1; }
if [ "$(cat "$image/version" 2>/dev/null)" != "$release" ]; then
	rm -rf "$image"
	mkdir "$image"
	download "$release" "$image"
	dpkg-deb -x "$image/linux-image-$release"_*.deb "$image"
	rm "$image"/*.deb "$image/apt.log"
	depmod -b "$image" "$release"
	echo "$release" >"$image/version"
fi

wanted=$(cat "$home/init" "$home/build.sh" "$(command -v busybox)" | sha256sum)
if [ "$(cat "$image/initrd.made-of" 2>/dev/null)" != "$wanted" ]; then
	initrd "$release" "$image"
	echo "$wanted" >"$image/initrd.made-of"
fi
