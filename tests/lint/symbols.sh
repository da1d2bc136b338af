#!/bin/sh
# SPDX-License-Identifier: MIT
# symbols: what the archives use and export, what the programs are linked to.
# shellcheck source=tests/lint/tap.inc
. "$(dirname "$0")/tap.inc"

# What libfat may call: memory, strings, files. Not: exit, printf, getenv, time, rand, stdio.
allowed='
aligned_alloc calloc malloc realloc reallocarray free qsort bsearch
memchr memcmp memcpy memmove memset mempcpy
strchr strcmp strlen strncmp strnlen strrchr strcspn strspn strcasecmp strncasecmp
open open64 close fstat fstat64 stat stat64 lseek lseek64 pread pread64 pwrite pwrite64
fsync fdatasync ftruncate ftruncate64 fallocate fallocate64 flock unlink ioctl
fcntl fcntl64 posix_fadvise posix_fadvise64 readahead
iconv iconv_open iconv_close
__errno_location __stack_chk_fail
__memcpy_chk __memmove_chk __memset_chk __pread_chk __pread64_chk __open_2 __open64_2
_GLOBAL_OFFSET_TABLE_
'
defined() { nm --defined-only "$1" | awk 'NF == 3 { print $3 }' | sort -u; }
undefined() { nm -u "$1" | awk '$1 == "U" { print $2 }' | sort -u; }

case $O in
*/asan | */cov) skip "libfat calls nothing but memory, strings and files" "instrumented build" ;;
*)
	{ echo "$allowed" | tr ' ' '\n'; defined "$O/libfat.a"; } >"$work/allowed"
	undefined "$O/libfat.a" | grep -vxFf "$work/allowed" |
		check "libfat calls nothing but memory, strings and files"
	;;
esac

case $O in
*/asan | */cov) skip "libfat has no writable data" "instrumented build" ;;
*)
	objdump -h "$O/libfat.a" | awk '
		/file format/ { member = $1 }
		$2 ~ /^\.(data|bss|tdata|tbss)/ && $2 !~ /^\.data\.rel\.ro/ && $3 !~ /^0+$/ {
			print member, $2, "has", "0x" $3, "bytes"
		}' | check "libfat has no writable data"
	;;
esac

for pair in fat:fat_ cli:cli_ host:host_; do
	nm -g --defined-only "$O/lib${pair%%:*}.a" | awk 'NF == 3 { print $3 }' |
		grep -vE "^(${pair#*:}|__)" |
		check "lib${pair%%:*} exports names of its own only"
done

for tool in fsck.fat fatundo fatlabel; do
	[ -e "$O/$tool" ] || continue
	case $O in
	*/asan | */cov) skip "$tool is linked to libc alone" "instrumented build" ;;
	*) readelf -d "$O/$tool" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^libc\.so' |
		check "$tool is linked to libc alone" ;;
	esac
done
done_testing
