# Finds and runs Chromium; sourced by the two scripts beside this file.
#
#   CHROMIUM_CACHE  the folder into which it is unpacked
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../../.." && pwd)
cache=$(realpath -m "${CHROMIUM_CACHE:-$project/.cache/chromium}")
# Raised when `install` changes what it unpacks.
root=$cache/root-1

fail() {
	printf 'chromium %s: %s\n' "$(basename "$0")" "$1" >&2
	exit "${2:-1}"
}

# Runs it with its own libraries and fonts, whatever the host has.
program() { # ARG...: replaces this shell
	shopt -s nullglob
	local folders=("$root"/usr/lib/*-linux-gnu "$root"/usr/lib/*-linux-gnu/pulseaudio "$root"/lib/*-linux-gnu)
	LD_LIBRARY_PATH=$(IFS=: && printf '%s' "${folders[*]}")
	export LD_LIBRARY_PATH FONTCONFIG_FILE=$root/fonts.conf
	exec "$root/usr/lib/chromium/chromium-headless-shell" "$@"
}
