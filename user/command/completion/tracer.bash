# shellcheck shell=bash
# What the cursor is at. The functions and variables that are not here are made of the tables of options.

# "PID NAME" of each process but the kernel's threads, which have no arguments. Names are anybody's: what is no character
# does not get to the terminal.
_tracer_processes()
{
	local folder name

	for folder in /proc/[0-9]*; do
		IFS= read -r -n 1 _ <"$folder/cmdline" || continue
		IFS= read -r name <"$folder/comm" || continue
		printf '%s %s\n' "${folder#/proc/}" "${name//[^[:print:]]/?}"
	done 2>/dev/null
}

# By number; with names where bash is about to list what there is. $1 = ",": several, with commas between.
_tracer_pids()
{
	local before='' pid name
	local -a listed=()

	[[ -n $1 && $cur == *,* ]] && before=${cur%,*},
	while read -r pid name; do
		[[ $before$pid == "$cur"* ]] || continue
		COMPREPLY+=("$before$pid")
		listed+=("$before$pid ($name)")
	done < <(_tracer_processes)
	if [[ ${#listed[@]} -gt 1 && ${COMP_TYPE:-9} =~ ^(33|63|64)$ ]]; then
		COMPREPLY=("${listed[@]}")
	fi
}

_tracer_process_names()
{
	local name

	while read -r _ name; do
		[[ $name == "$cur"* ]] && printf -v name %q "$name" && COMPREPLY+=("$name")
	done < <(_tracer_processes | sort -u -k 2)
}

_tracer_users()
{
	mapfile -t COMPREPLY < <(compgen -u -- "$cur")
}

_tracer_files()
{
	compopt -o default
}

_tracer_directories()
{
	compopt -o dirnames
}

_tracer_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$*" -- "$cur")
}

# The program behind "--", which is word $2, if command $1 starts one.
_tracer_program()
{
	if ! _tracer_starts_program "$1"; then
		_tracer_files
	elif declare -F _command_offset >/dev/null; then
		_command_offset "$2"
	elif ((COMP_CWORD == $2)); then
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
	else
		_tracer_files
	fi
}

# An argument behind "=" is three words for bash: the option, "=", the argument.
_tracer()
{
	local cur=${COMP_WORDS[COMP_CWORD]} command=$_tracer_default named='' option='' i

	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			_tracer_program "$command" $((i + 1))
			return
		elif _tracer_takes_argument "${COMP_WORDS[i]}"; then
			option=${COMP_WORDS[i]}
			[[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
			((++i < COMP_CWORD)) && option=
		elif [[ ${COMP_WORDS[i]} != -* && -z $named ]]; then
			named=yes
			[[ " $_tracer_commands " == *" ${COMP_WORDS[i]} "* ]] && command=${COMP_WORDS[i]}
		fi
	done
	[[ $cur == = ]] && cur=
	if [[ $cur == -* ]]; then
		_tracer_words "$(_tracer_options "$command")"
	elif [[ -n $option ]]; then
		_tracer_argument "$command $option"
	elif [[ -z $named ]]; then
		_tracer_words "$_tracer_commands"
	elif _tracer_takes_files "$command"; then
		_tracer_files
	fi
}

complete -F _tracer tracer
