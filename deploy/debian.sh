# Unpacks programs from Debian packages into a cache folder, using the Debian mirror that this machine's apt is configured with. Nothing is
# installed on the host, root is not needed, and a second run does nothing. Sourced by `install` scripts, never run directly.
#
# The script sets `name` (its name in messages), `cache`, `root` (a folder in `cache`), `suites`, `packages` and `assumed` (dependencies that
# only a whole Debian system needs: they count as installed, because no maintainer script runs here), and defines `fail MESSAGE [STATUS]`,
# `works` (whether the programs in `root` run on this machine) and `finish FOLDER` (the remaining steps in that folder).
#
# Exit status: 0, the programs are there; 75, this machine cannot use Debian's packages, and the last line of standard error says why;
# anything else is a fault.

unavailable() { fail "$1" 75; }

# apt with the host's proxies and keys, but its own lists, cache and an empty package database.
apt() {
	local command=$1
	shift
	"$command" -q -o Dir::State="$work" -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" \
		-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/sources" -o Dir::Etc::preferencesparts="$work/none" \
		-o Dir::Etc::preferences=/dev/null -o APT::Sandbox::User="$(id -un)" -o APT::Install-Recommends=false \
		-o Acquire::Languages=none -o Acquire::Retries=3 -o Acquire::http::Timeout=60 "$@" >>"$log" 2>&1 9>&-
}

download() { # MIRROR SUITE: downloads the packages into $work/cache/archives
	rm -rf "$work"
	mkdir -p "$work"/{lists/partial,cache/archives/partial,sources,none}
	local keys=/usr/share/keyrings/debian-archive-keyring
	{
		printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\n' "$1" "$2"
		for keys in "$keys.gpg" "$keys.pgp"; do
			if [ -f "$keys" ]; then printf 'Signed-By: %s\n' "$keys" && break; fi
		done
	} >"$work/sources/suite.sources"
	local architecture package
	architecture=$(dpkg --print-architecture)
	for package in $assumed; do
		printf 'Package: %s\nStatus: install ok installed\nArchitecture: %s\nMulti-Arch: allowed\nVersion: 99:0\nMaintainer: none\nDescription: assumed\n\n' "$package" "$architecture"
	done >"$work/status"
	# shellcheck disable=SC2086
	apt apt-get update && apt apt-get -y --download-only install $packages
}

unpack() { # FOLDER
	mkdir -p "$1"
	find "$work/cache/archives" -name '*.deb' -print0 | xargs -0 -n1 sh -c '
		dpkg-deb --fsys-tarfile "$2" | tar -x -C "$1" --no-same-owner --keep-directory-symlink \
			--exclude=./usr/share/doc --exclude=./usr/share/man --exclude=./usr/share/locale' unpack "$1" >>"$log" 2>&1
	finish "$1"
}

bring_packages() {
	if works; then exit 0; fi
	local command mirror mirrors suite target
	for command in apt-get apt-cache dpkg-deb flock; do
		command -v "$command" >/dev/null || unavailable "$name comes from Debian packages, and this machine has no $command"
	done
	# One mirror per line; security and third-party archives do not have these suites.
	mirrors=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | sed 's#/*$#/#' | grep '/debian/$' | awk '!seen[$0]++' || true)
	[ -n "$mirrors" ] || unavailable "apt is not configured with a Debian mirror on this machine"

	mkdir -p "$cache"
	exec 9>"$cache/lock"
	flock -w 900 9 || fail "another install has held $cache/lock for 15 minutes"
	if works; then exit 0; fi

	work=$cache/work
	log=$cache/install.log
	rm -rf "$work"
	trap 'rm -rf "$work"' EXIT
	: >"$log"
	for suite in $suites; do
		for mirror in $mirrors; do
			if ! download "$mirror" "$suite"; then continue; fi
			target=$root
			root=$work/root
			unpack "$root" || fail "the packages of $suite could not be unpacked, see $log"
			works || fail "the $name of $suite does not run on this machine, see $log"
			rm -rf "$target"
			mv "$root" "$target"
			exit 0
		done
	done
	unavailable "no Debian mirror of this machine has $name in the suites $suites, see $log"
}
