# What the cursor is at. The functions that are not here are made of the tables of options.

# The command whose words are before the cursor, and "named" if there is a word that may name one; with "--" only that.
function __tracer_state
	set -l tokens (commandline -opc)
	set -l state $__tracer_default
	set -l skips no
	for token in $tokens[2..-1]
		if test $skips = yes
			set skips no
		else if test "$token" = --; and __tracer_starts_program $state[1]
			echo -- --
			return
		else if __tracer_takes_argument $token
			set skips yes
		else if not string match -q -- '-*' $token; and not set -q state[2]
			contains -- $token $__tracer_commands; and set state $token
			set state $state[1] named
		end
	end
	string join \n $state
end

# Is the command one of these?
function __tracer_is
	set -l state (__tracer_state)
	contains -- $state[1] $argv
end

function __tracer_is_unnamed
	set -l state (__tracer_state)
	test "$state[1]" != --; and not set -q state[2]
end

# What the program behind "--" would be offered.
function __tracer_program
	set -l tokens (commandline -opc) (commandline -ct)
	set -l first (contains -i -- -- $tokens)
	set -l line (string escape -- $tokens[(math $first + 1)..-2]) $tokens[-1]
	complete -C (string join ' ' -- $line)
end

# Each process but the kernel's threads, whose parent is 2, with its name, which is anybody's.
function __tracer_pids
	ps -A -o ppid= -o pid= -o comm= | string match -rv '^ *2 |^ *0 +2 ' |
		string replace -ra '[^[:print:]]' '?' | string replace -r '^ *\d+ +(\d+) +(.*)$' '$1\t$2'
end

function __tracer_process_names
	__tracer_pids | string replace -r '^\d+\t' '' | sort -u
end

complete -c tracer -f
complete -c tracer -n '__tracer_is --' -a '(__tracer_program)'
