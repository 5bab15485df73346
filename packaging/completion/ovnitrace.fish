# SPDX-License-Identifier: BSD-2-Clause
# Completion of ovnitrace in fish. ovnitrace itself knows what may follow.

function __ovnitrace_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    # Whether a program may follow --: ovnitrace offers the -- then.
    set -l sub (string match -v -- '-*' $words[2])
    if contains -- -- $words; and $words[1] __complete $sub -- 2>/dev/null | string match -qr -- '^--\t'
        __fish_complete_subcommand --fcs-skip=(contains -i -- -- $words)
        return
    end
    set -l found ($words[1] __complete $words[2..-1] "$word" 2>/dev/null)
    set -l kind $found[-1]
    set -e found[-1]
    printf '%s\n' $found
    set -l before (string match -r -- '^--[^=]*=' $word)
    switch "$kind"
        case :files
            __fish_complete_path (string replace -r -- '^--[^=]*=' '' $word) | string replace -r '^' -- "$before"
        case :directories
            __fish_complete_directories (string replace -r -- '^--[^=]*=' '' $word) | string replace -r '^' -- "$before"
    end
end

complete -c ovnitrace -f -a '(__ovnitrace_complete)'
