# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# rig: boots Debian's kernel in qemu with an initramfs of busybox, our tools and a script, and an
# image as its disk; lets it run to its end, or pulls the plug. Emulated (-accel tcg), so it runs
# wherever qemu does; x86-64 only.
#
# The kernel is taken from $BOOT_KERNEL_DEB, or fetched by name with apt-get download, once, into
# build/boot. What the guest says goes to its serial console, of which our lines begin with "@ ".

: "${FATWISE_BIN:?}"
boot_rig=${BASH_SOURCE[0]}
boot_cache=$(cd "${boot_rig%/*}/../.." && pwd)/build/boot
boot_kernel_args="console=ttyS0 quiet panic=-1 oops=panic audit=0 mitigations=off no_timer_check tsc=reliable"

# boot_prepare: kernel and modules are in $boot_cache; else $boot_lacks says what is missing.
boot_prepare() {
	local program
	boot_lacks=
	[ "$(uname -m)" = x86_64 ] || boot_lacks="the rig knows x86-64 only"
	for program in qemu-system-x86_64 busybox cpio depmod modprobe dpkg-deb xz; do
		PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null || boot_lacks="no $program here"
	done
	[ -z "$boot_lacks" ] || return 1
	mkdir -p "$boot_cache"
	{
		flock 9
		[ "$boot_cache/version" -nt "$boot_rig" ] || boot_unpack
	} 9>"$boot_cache/lock"
}

boot_fetch() {
	local package
	[ -z "${BOOT_KERNEL_DEB-}" ] || { echo "$BOOT_KERNEL_DEB" && return; }
	if ! ls "$boot_cache"/linux-image-*.deb >/dev/null 2>&1; then
		package=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' | head -1)
		[ -n "$package" ] || return 1
		(cd "$boot_cache" && apt-get -q download "$package" >/dev/null 2>&1) || return 1
	fi
	ls "$boot_cache"/linux-image-*.deb
}

# The kernel proper, which is packed in the boot loader's file, and the modules of a FAT on virtio.
boot_unpack() {
	local deb tree version
	deb=$(boot_fetch) || { boot_lacks="linux-image-amd64 cannot be fetched" && return 1; }
	tree=$boot_cache/tree
	rm -rf "$tree"
	mkdir -p "$tree"
	dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$tree" --wildcards './boot/vmlinuz-*' './lib/modules/*/modules.*' \
		'*/drivers/virtio/*' '*/block/virtio_blk.ko*' '*/block/loop.ko*' '*/fs/fat/*' '*/fs/nls/*' \
		'*/lib/crc*' '*/crypto/crc*' '*/arch/x86/crypto/crct10dif*'
	version=$(ls "$tree/lib/modules")
	boot_unpack_kernel "$tree/boot/vmlinuz-$version" "$boot_cache/vmlinux" || return 1
	find "$tree/lib/modules" -name '*.xz' -exec xz -d {} +
	PATH=$PATH:/usr/sbin:/sbin depmod -b "$tree" "$version"
	${CC:-cc} -O2 -o "$boot_cache/tsc" "${boot_rig%/*}/tsc.c"
	echo "$version" >"$boot_cache/version"
}

# boot_unpack_kernel BZIMAGE TARGET: offset and length of the packed kernel stand in the setup header.
boot_unpack_kernel() {
	local sectors offset bytes
	number() { od -An -v -tu"$2" -j "$1" -N "$2" "$3" | tr -d ' '; }
	sectors=$(number $((0x1f1)) 1 "$1") offset=$(number $((0x248)) 4 "$1") bytes=$(number $((0x24c)) 4 "$1")
	tail -c +$(((sectors + 1) * 512 + offset + 1)) "$1" | head -c "$bytes" >"$2.packed"
	# each has a length behind its end that the unpacker does not know
	case $(od -An -tx1 -N4 "$2.packed" | tr -d ' ') in
	fd377a58) xz -dc --single-stream <"$2.packed" >"$2" ;;
	28b52ffd) zstd -dcq <"$2.packed" >"$2" ;;
	1f8b*) gzip -dcq <"$2.packed" >"$2" ;;
	*) boot_lacks="the kernel is packed in a way that the rig does not know" && return 1 ;;
	esac || true
	rm "$2.packed"
	[ "$(od -An -tx1 -N4 "$2" | tr -d ' ')" = 7f454c46 ] || { boot_lacks="no kernel in the package" && return 1; }
}

# boot_put ROOT PROGRAM [TARGET]: a program and the libraries that it is linked to.
boot_put() {
	local library
	mkdir -p "$1$(dirname "${3:-$2}")"
	cp -L "$2" "$1${3:-$2}"
	for library in $(ldd "$2" 2>/dev/null | grep -o '/[^ ]*'); do
		mkdir -p "$1$(dirname "$library")"
		[ -e "$1$library" ] || cp -L "$library" "$1$library"
	done
}

# boot_root ROOT: a folder with busybox, the modules, our tools under their names, and an /init that
# runs /scenario.
boot_root() {
	local root=$1 version tree=$boot_cache/tree applet module tool
	version=$(cat "$boot_cache/version")
	mkdir -p "$root"/{bin,sbin,dev,proc,sys,run,tmp,etc,boot,mnt,modules}
	cp "$(command -v busybox)" "$root/bin/busybox"
	for applet in $(busybox --list); do
		case $applet in busybox | fsck* | mkfs* | mkdosfs) ;; *) ln -s busybox "$root/bin/$applet" ;; esac
	done
	PATH=$PATH:/usr/sbin:/sbin
	for module in virtio_mmio virtio_blk loop nls_cp437 nls_ascii nls_iso8859-1 nls_utf8 vfat; do
		modprobe -d "$tree" -S "$version" --show-depends "$module" | sed -n 's/^insmod \([^ ]*\).*/\1/p'
	done | awk '!seen[$0]++ { n++; print n, $0 }' | while read -r applet module; do
		cp "$module" "$root/modules/$(printf %02d "$applet").ko"
	done
	for tool in mkfs.fat fsck.fat fatlabel fatundo; do
		boot_put "$root" "$FATWISE_BIN/$tool" "/sbin/$tool"
	done
	ln -s fsck.fat "$root/sbin/fsck.vfat"
	ln -s fsck.fat "$root/sbin/fsck.msdos"
	ln -s mkfs.fat "$root/sbin/mkfs.vfat"
	cat >"$root/init" <<-'EOF'
		#!/bin/busybox sh
		export PATH=/sbin:/bin:/usr/sbin:/usr/bin HOME=/
		mount -t proc proc /proc
		mount -t sysfs sys /sys
		mount -t devtmpfs dev /dev
		dmesg -n 1
		for module in /modules/*; do insmod $module; done
		ln -s /proc/mounts /etc/mtab
		say() { echo "@ $*" >/dev/ttyS0; }
		until [ -b /dev/vda ]; do sleep 0.1; done
		. /scenario 2>&1
		say end
		dmesg | grep -E 'FAT-fs|I/O error|beyond end' | sed 's/^/@ kernel /' >/dev/ttyS0
		sync
		say bye
		poweroff -f
	EOF
	chmod 755 "$root/init"
}

# boot_pack ROOT: becomes $boot_initrd.
boot_pack() {
	boot_initrd=$BATS_TEST_TMPDIR/initrd
	(cd "$1" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet) >"$boot_initrd"
}

# boot_start IMAGE [DRIVE-OPTIONS]: in the background; its console is $boot_console.
boot_start() {
	boot_console=$BATS_TEST_TMPDIR/console
	: >"$boot_console"
	qemu-system-x86_64 -accel tcg,tb-size=128 -M microvm -cpu max -smp 1 -m 192 -nodefaults -no-user-config \
		-display none -no-reboot -global virtio-mmio.force-legacy=false -kernel "$boot_cache/vmlinux" \
		-initrd "$boot_initrd" -append "$boot_kernel_args tsc_early_khz=$("$boot_cache/tsc")" \
		-serial "file:$boot_console" -drive "if=none,id=disk,format=raw,file=$1${2:+,$2}" \
		-device virtio-blk-device,drive=disk </dev/null >"$BATS_TEST_TMPDIR/qemu.log" 2>&1 3>&- &
	boot_qemu=$!
}

# boot_until COMMAND...: waits until the command succeeds; fails when qemu has ended or after $BOOT_LIMIT
# (300) seconds.
boot_until() {
	local limit=$((SECONDS + ${BOOT_LIMIT:-300}))
	until "$@"; do
		if ! kill -0 "$boot_qemu" 2>/dev/null || [ $SECONDS -gt $limit ]; then
			"$@" && return # it may have come last
			boot_show
			return 1
		fi
		sleep 0.05
	done
}

# boot_said PATTERN: whether a line of ours is like that.
boot_said() { grep -qE "^@ $1" "$boot_console"; }

# boot_cut: the plug is pulled.
boot_cut() {
	kill -9 "$boot_qemu" 2>/dev/null || true
	wait "$boot_qemu" 2>/dev/null || true
}

# boot_end: waits until the guest has said all that it has to say. It then switches itself off, which
# hangs at times under emulation; what it wrote has been synced by then.
boot_end() {
	boot_until boot_said bye || return 1
	local limit=$((SECONDS + 10))
	while kill -0 "$boot_qemu" 2>/dev/null && [ $SECONDS -lt $limit ]; do
		sleep 0.1
	done
	boot_cut
}

boot_show() {
	echo "# console:"
	tail -n 40 "$boot_console"
	cat "$BATS_TEST_TMPDIR/qemu.log"
}
