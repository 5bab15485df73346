# SPDX-License-Identifier: BSD-2-Clause
# Completion of ovnitrace in bash. ovnitrace itself knows what may follow.
# shellcheck shell=bash

# Whether a program may follow --: ovnitrace offers the -- then.
_ovnitrace_runs() {
  [[ $2 == -* ]] && set -- "$1"
  [[ $'\n'$("${1/#\~/$HOME}" __complete ${2:+"$2"} -- 2>/dev/null) == *$'\n--\t'* ]]
}

_ovnitrace() {
  local cur='' piece words=() n line kind prefix=''
  # Readline splits at = and :, ovnitrace does not.
  for ((n = 0; n <= COMP_CWORD; n++)); do
    piece=${COMP_WORDS[n]}
    if ((n > 0)) && [[ $COMP_WORDBREAKS == *=* && ($piece == [=:]* || $cur == *[=:]) ]]; then
      cur+=$piece
      words[${#words[@]} - 1]=$cur
    else
      cur=$piece
      words+=("$cur")
    fi
    if [[ $cur == -- && $n -lt $COMP_CWORD ]] && _ovnitrace_runs "${words[@]}"; then
      if declare -F _command_offset >/dev/null; then
        _command_offset $((n + 1))
      else
        mapfile -t COMPREPLY < <(compgen -c -f -- "${COMP_WORDS[COMP_CWORD]}")
      fi
      return
    fi
  done
  [[ $COMP_WORDBREAKS == *=* && $cur == *[=:]* ]] && prefix=${cur%"${cur##*[=:]}"}
  COMPREPLY=()
  words=("${words[@]//[\\\"\']/}") # without the quotes of the shell
  while IFS= read -r line; do
    if [[ $line == :* ]]; then
      kind=$line
    else
      line=${line%%$'\t'*}
      [[ $line == *[^[:alnum:]_@%+=:,./-]* ]] && printf -v line %q "$line"
      COMPREPLY+=("${line#"$prefix"}")
    fi
  done < <("${words[0]/#\~/$HOME}" __complete "${words[@]:1}" 2>/dev/null)
  case $kind in
  :files) compopt -o filenames 2>/dev/null
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "${cur#"$prefix"}") ;;
  :directories) compopt -o filenames 2>/dev/null
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "${cur#"$prefix"}") ;;
  esac
  [[ ${COMPREPLY[0]-} == *[=:] ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _ovnitrace ovnitrace
