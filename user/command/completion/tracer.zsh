# What the cursor is at. The functions that are not here are made of the tables of options.

# "PID:NAME" of each process but the kernel's threads, which have no arguments. Names are anybody's.
_tracer_list_processes()
{
	local folder name

	for folder in /proc/<->(N); do
		IFS= read -r -d '' name <$folder/cmdline || continue
		IFS= read -r name <$folder/comm || continue
		processes+=("$folder:t:${name//[^[:print:]]/?}")
	done 2>/dev/null
}

_tracer_pids()
{
	local -a processes

	_tracer_list_processes
	_describe -V process processes "$@"
}

# Several, with commas between.
_tracer_pid_list()
{
	_sequence _tracer_pids
}

_tracer_process_names()
{
	local -a processes names
	local expl

	_tracer_list_processes
	names=(${(u)processes#*:})
	_wanted names expl 'process name' compadd -a names
}

# The words become those of the command, as if it were a program of its own.
_tracer()
{
	local command=$_tracer_default named= curcontext=$curcontext
	integer i

	for ((i = 2; i < CURRENT; i++)); do
		if [[ $words[i] == -- ]]; then
			_tracer_starts_program $command || { _files; return }
			shift $i words
			((CURRENT -= i))
			_normal
			return
		elif _tracer_takes_argument $words[i]; then
			((i++))
		elif [[ $words[i] != -* && -z $named ]]; then
			named=yes
			((_tracer_commands[(Ie)$words[i]])) || continue
			command=$words[i]
			words[i]=()
			((CURRENT--, i--))
		fi
	done
	_tracer_command $command $named
}

_tracer "$@"
