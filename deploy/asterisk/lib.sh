# Shared by the scripts in this folder: where things are, how the unpacked
# programs run, and which processes are ours. Sourced, never run directly.
#
#   ASTERISK_CACHE  where the programs are; any number of instances share it
#   ASTERISK_NAME   the instance; another name starts another Asterisk beside the first
#   ASTERISK_RUN    its folder: configuration, logs, recordings, pids
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)
cache=$(realpath -m "${ASTERISK_CACHE:-$project/.cache/asterisk}")
# Increment the number when `install` unpacks something else; instances that run from the old folder keep it.
root=$cache/root-1
run=$(realpath -m "${ASTERISK_RUN:-${TMPDIR:-/tmp}/trunkline-asterisk-$(id -u)/${ASTERISK_NAME:-default}}")

fail() {
	printf 'asterisk %s: %s\n' "$(basename "$0")" "$1" >&2
	exit "${2:-1}"
}

need_running() { alive asterisk || fail "no Asterisk is running in $run"; }

# --- Programs. They run with the C library they were built for, through its own loader, independently of the host's.
libraries() { printf '%s\n' "$root"/usr/lib/*-linux-gnu; }
program() { # PATH ARG...: replaces this shell
	local path=$root/usr/$1
	shift
	exec "$(libraries)"/ld-linux*.so.* --library-path "$(libraries):$root/usr/lib" "$path" "$@"
}
console() { (program sbin/asterisk -C "$run/etc/asterisk.conf" -rx "$1"); }

# --- Processes. A process is identified by its pid and start time, because the kernel may reuse a pid.
started_at() { # PID: fails if the process is gone or a zombie
	local stat
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
	# The name in parentheses may contain spaces; of the fields after it, 1 is the state and 20 the start time.
	read -ra stat <<<"${stat##*) }"
	[ "${stat[0]}" != Z ] && printf '%s\n' "${stat[19]}"
}
alive() { # NAME
	local pid start
	read -r pid start 2>/dev/null <"$run/$1.pid" && [ "$(started_at "$pid")" = "$start" ]
}
pid_of() { cut -d' ' -f1 "$run/$1.pid"; }
launch() { # NAME FOLDER PROGRAM ARG...: runs it in the background, with its output in log/NAME.out
	local name=$1 folder=$2
	shift 2
	(cd "$folder" && exec setsid "$here/program" "$@") </dev/null >>"$run/log/$name.out" 2>&1 8>&- 9>&- &
	local pid=$! start
	start=$(started_at "$pid") || fail "$name exited at once, see $run/log/$name.out"
	printf '%s %s\n' "$pid" "$start" >"$run/$name.pid"
}
send() { # SIGNAL NAME: sends the signal and waits up to 5 s for the process to exit
	if alive "$2"; then kill "-$1" "$(pid_of "$2")" 2>/dev/null || true; fi
	for _ in {1..100}; do
		alive "$2" || return 0
		sleep 0.05
	done
	return 1
}
end() { # NAME
	send TERM "$1" || send KILL "$1" || fail "$1 (pid $(pid_of "$1")) does not exit"
	rm -f "$run/$1.pid"
}
