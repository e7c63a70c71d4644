# Sourced by tools that make a Debian of their own: where this machine's packages come from.
# shellcheck shell=sh disable=SC2016 # apt's own $(...)

# The first archive in apt's sources that holds Debian itself.
debian_mirror() {
	apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Identifier: Packages' |
		awk '$2 !~ /-/ { print $1; exit }'
}

debian_proxy() { # http or https
	apt-config shell value "Acquire::$1::Proxy" | sed -n "s/^value='\(.*\)'$/\1/p"
}

# debian_inside FOLDER COMMAND: runs it there, with /proc and nothing of this shell's surroundings.
debian_inside() {
	unshare --mount --propagation private sh -c '
		mount -t proc proc "$0/proc"
		exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive http_proxy="$http_proxy" https_proxy="$https_proxy" sh -c "$1"' "$@"
}

# debian_know ARCH: lets the kernel run another processor's programs through qemu; fails with a sentence.
debian_know() {
	test "$1" != "$(dpkg --print-architecture)" || return 0
	test "$1" = arm64 || {
		echo "only arm64 is known beside this machine's own" >&2
		return 1
	}
	command -v qemu-aarch64-static >/dev/null || {
		echo "needs qemu: apt-get install qemu-user-static" >&2
		return 1
	}
	debian_formats=/proc/sys/fs/binfmt_misc
	test -e $debian_formats/register || mount -t binfmt_misc binfmt_misc $debian_formats 2>/dev/null || true
	test ! -e $debian_formats/qemu-aarch64 || return 0
	debian_magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
	debian_mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
	printf '%s' ":qemu-aarch64:M::$debian_magic:$debian_mask:/usr/bin/qemu-aarch64-static:F" \
		>$debian_formats/register 2>/dev/null || {
		echo "this kernel runs no foreign programs" >&2
		return 1
	}
}

# debian_make SUITE FOLDER LOG [DEBOOTSTRAP OPTION...]; fails with a sentence.
debian_make() {
	debian_suite=$1 debian_folder=$2 debian_log=$3
	shift 3
	debian_keys=/usr/share/keyrings/debian-archive-keyring.gpg
	debian_from=$(debian_mirror)
	command -v debootstrap >/dev/null || {
		echo "needs debootstrap: apt-get install debootstrap" >&2
		return 1
	}
	test "$debian_from" || {
		echo "apt's sources name no Debian archive" >&2
		return 1
	}
	test -e "$debian_keys" || {
		echo "needs the archive's keys: apt-get install debian-archive-keyring" >&2
		return 1
	}
	http_proxy=${http_proxy-$(debian_proxy http)}
	https_proxy=${https_proxy-$(debian_proxy https)}
	export http_proxy https_proxy
	# A suite younger than this debootstrap is made the way unstable is.
	debian_script=/usr/share/debootstrap/scripts/$debian_suite
	test -e "$debian_script" || debian_script=/usr/share/debootstrap/scripts/sid
	debootstrap --variant=minbase --keyring="$debian_keys" --force-check-gpg "$@" \
		"$debian_suite" "$debian_folder" "$debian_from" "$debian_script" >"$debian_log" 2>&1 || {
		tail -20 "$debian_log" >&2
		echo "debootstrap could not make $debian_suite" >&2
		return 1
	}
}
