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
