#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# build.sh NAME: makes build/images/NAME, what a guest of that kernel boots from, unless it is there
# and up to date: boot/vmlinuz-*, lib/modules/*, headers (to build modules against), initrd, and version,
# the kernel's release.
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin
home=$(dirname "$(realpath "$0")")
name=${1:?usage: build.sh NAME, one of $home/kernels}
image=$(dirname "$home")/build/images/$name

# What the guest needs before it can reach the host's files and this script's caller.
early_modules=(virtio_pci virtio_console 9pnet_virtio 9p overlay)

origin=$(awk -v name="$name" '$1 == name { print $2 }' "$home/kernels")
[ -n "$origin" ] || { echo "build.sh: no kernel '$name' in $home/kernels" >&2; exit 1; }

# newest PATTERN: the newest release that the pattern names and whose headers are installed.
newest() {
	local path
	for path in /usr/src/${1/image/headers}; do
		[[ $path =~ -(cloud|rt)-amd64$ ]] && continue
		if [ -d "$path/include" ]; then
			basename "$path" | sed 's/^linux-headers-//'
		fi
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

# unpack RELEASE IMAGE: makes the image of the kernel's package; what was there stays until that is downloaded.
unpack() {
	rm -rf "$2.new"
	mkdir "$2.new"
	download "$1" "$2.new"
	rm -rf "$2"
	mv "$2.new" "$2"
	dpkg-deb -x "$2/linux-image-$1"_*.deb "$2"
	rm "$2"/*.deb "$2/apt.log"
	depmod -b "$2" "$1"
	ln -s "/usr/src/linux-headers-$1" "$2/headers"
	echo "$1" >"$2/version"
}

# from_package IMAGE PATTERN: the kernel of the newest package that the pattern names.
from_package() {
	local release
	release=$(newest "$2")
	[ -n "$release" ] || { echo "build.sh: no headers for $2 are installed: make setup" >&2; exit 1; }
	if [ "$(cat "$1/version" 2>/dev/null)" != "$release" ] || [ ! -d "$1/headers" ]; then
		unpack "$release" "$1"
	fi
}

# from_source IMAGE SOURCE FRAGMENT...: a kernel built of the sources with the options of the fragments.
from_source() {
	local wanted
	wanted=$(cd "$home" && sha256sum "/usr/src/$2.tar.xz" "${@:3}" build-kernel.sh | cut -d ' ' -f 1 | sha256sum)
	if [ "$(cat "$1/kernel.made-of" 2>/dev/null)" != "$wanted" ]; then
		(cd "$home" && ./build-kernel.sh "$@") >&2
		echo "$wanted" >"$1/kernel.made-of"
	fi
}

# initrd RELEASE IMAGE: busybox, the early modules and init, as a compressed cpio archive.
initrd() {
	local tree file module
	tree=$(mktemp -d)
	mkdir -p "$tree"/{bin,proc,sys,dev,host,memory,modules}
	cp "$(command -v busybox)" "$tree/bin/busybox"
	cp "$home/init" "$tree/init"
	chmod +x "$tree/init"
	touch "$tree/modules/list"
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

case $origin in
linux-source-*+*)
	IFS=+ read -ra parts <<<"$origin"
	from_source "$image" "${parts[0]}" "${parts[@]:1}"
	;;
*) from_package "$image" "$origin" ;;
esac
release=$(cat "$image/version")

wanted=$(cat "$home/init" "$home/build.sh" "$(command -v busybox)" | sha256sum)
if [ "$(cat "$image/initrd.made-of" 2>/dev/null)" != "$wanted" ]; then
	initrd "$release" "$image"
	echo "$wanted" >"$image/initrd.made-of"
fi
