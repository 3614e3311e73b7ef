# What the scripts beside this file share: where things are, how the unpacked
# programs are run, and which processes are ours. Sourced, never run.
#
#   ASTERISK_CACHE  where the programs lie; any number of instances share it
#   ASTERISK_NAME   the instance; another name is another Asterisk beside the first
#   ASTERISK_RUN    its folder: configuration, logs, recordings, pids
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)
cache=$(realpath -m "${ASTERISK_CACHE:-$project/.cache/asterisk}")
# Raised when `install` changes what it unpacks; the old folder is left to instances that run from it.
root=$cache/root-1
run=$(realpath -m "${ASTERISK_RUN:-${TMPDIR:-/tmp}/trunkline-asterisk-$(id -u)/${ASTERISK_NAME:-default}}")

fail() {
	printf 'asterisk %s: %s\n' "$(basename "$0")" "$1" >&2
	exit "${2:-1}"
}

need_running() { alive asterisk || fail "no Asterisk runs in $run"; }

# --- Programs. They run on the C library they were built for, through its own loader, so the host's stays as it is.
libraries() { printf '%s\n' "$root"/usr/lib/*-linux-gnu; }
program() { # PATH ARG...: replaces this shell
	local path=$root/usr/$1
	shift
	exec "$(libraries)"/ld-linux*.so.* --library-path "$(libraries):$root/usr/lib" "$path" "$@"
}
console() { (program sbin/asterisk -C "$run/etc/asterisk.conf" -rx "$1"); }

# --- Processes. One is known by its pid and its start time: the kernel may give the same pid to a stranger later.
started_at() { # PID: fails for one that is gone, or a zombie
	local stat
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
	# The name in parentheses may hold spaces; of the fields after it, 1 is the state and 20 the start time.
	read -ra stat <<<"${stat##*) }"
	[ "${stat[0]}" != Z ] && printf '%s\n' "${stat[19]}"
}
alive() { # NAME
	local pid start
	read -r pid start 2>/dev/null <"$run/$1.pid" && [ "$(started_at "$pid")" = "$start" ]
}
pid_of() { cut -d' ' -f1 "$run/$1.pid"; }
launch() { # NAME FOLDER PROGRAM ARG...: in the background, its output in log/NAME.out
	local name=$1 folder=$2
	shift 2
	(cd "$folder" && exec setsid "$here/program" "$@") </dev/null >>"$run/log/$name.out" 2>&1 8>&- 9>&- &
	local pid=$! start
	start=$(started_at "$pid") || fail "$name ended at once, see $run/log/$name.out"
	printf '%s %s\n' "$pid" "$start" >"$run/$name.pid"
}
send() { # SIGNAL NAME: and waits up to 5 s for it to be gone
	if alive "$2"; then kill "-$1" "$(pid_of "$2")" 2>/dev/null || true; fi
	for _ in {1..100}; do
		alive "$2" || return 0
		sleep 0.05
	done
	return 1
}
end() { # NAME
	send TERM "$1" || send KILL "$1" || fail "$1 (pid $(pid_of "$1")) does not end"
	rm -f "$run/$1.pid"
}
