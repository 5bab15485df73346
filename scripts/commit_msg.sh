#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Checks a commit message: commit_msg.sh FILE. The subject has at most 72 characters, then follow an
# empty line and a body that says why. `make setup-hooks` makes it git's commit-msg hook.
set -u
message=$(sed '/^# -* >8 -*$/,$d; /^#/d' "$1") || exit 1
subject=${message%%$'\n'*}
case $subject in
'fixup! '* | 'squash! '* | 'Merge '* | 'Revert '*) exit 0 ;;
esac

refuse() {
  printf 'commit message: %s\n' "$@" >&2
  exit 1
}
[ "${#subject}" -gt 0 ] || refuse "it is empty"
[ "${#subject}" -le 72 ] || refuse "the subject has ${#subject} characters, at most 72 are allowed:" "$subject"
[ "$message" != "$subject" ] || refuse "it has no body: say why, after an empty line"
rest=${message#*$'\n'}
[ -z "${rest%%$'\n'*}" ] || refuse "the second line is not empty"
