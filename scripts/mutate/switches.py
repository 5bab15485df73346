# SPDX-License-Identifier: BSD-2-Clause
"""Puts many mutants into a source, each behind a switch of switch.h. A mutant that no switch can
choose, such as that of a constant, is built alone."""
import re

from clang import cindex

# In programs of the kernel, which include some headers too, all mutants are off.
HEADER = b"""#ifdef __bpf__
#define mutant(number) 0
#else
#include "scripts/mutate/switch.h"
#endif
"""
CPP_TREES, CPP_ENDINGS = ('emulator/', 'user/', 'include/'), ('.cpp', '.c', '.h')
ERROR = 3  # of clang's diagnostics
QUICK = 0x104  # CXTranslationUnit_PrecompiledPreamble, …_CreatePreambleOnFirstParse


def cpp_flags(path):
    c = path.endswith('.c') or path.startswith('user/libovnitrace/')
    return ['-I.', '-Iinclude', '-Ibuild', '-D_GNU_SOURCE', '-DOVT_ZSTD', '-DOVNITRACE_VERSION="1"',
            '-D_FILE_OFFSET_BITS=64'] + (['-x', 'c', '-std=gnu11'] if c else ['-x', 'c++', '-std=c++20'])


def changed(mutant, source):
    """Returns the scope of a mutant with the change, on one line, so that what follows keeps its line
    number. Returns None if there is no scope, or a comment or raw string in it."""
    if mutant.scope is None:
        return None
    begin, end, _ = mutant.scope
    text = source[begin:mutant.begin] + mutant.text + source[mutant.end:end]
    if b'\n' in text and (b'//' in text or b'R"' in text or b'\n#' in text):
        return None
    return re.sub(rb'\s*\n\s*', b' ', text)


def choose(kind, number, on, off):
    if kind == 'insert':
        return b'if (mutant(%d)) { %s } %s' % (number, on, off)
    if kind == 'statement':
        return b'if (mutant(%d)) { %s; } else %s' % (number, on, off)
    if kind == 'condition':
        return b'(mutant(%d) ? !!(%s) : !!(%s))' % (number, on, off)
    return b'(mutant(%d) ? (%s) : (%s))' % (number, on, off)


def with_switches(source, mutants):
    """Returns a source in which mutant(N) chooses mutants[N]."""
    by_scope = {}
    for number, mutant in mutants.items():
        by_scope.setdefault(mutant.scope, []).append(number)
    # An outer scope comes before those inside it.
    scopes = sorted(by_scope, key=lambda s: (s[0], -s[1], s[2] != 'insert'))

    def write(begin, end):
        parts, at = [], begin
        while scopes and begin <= scopes[0][0] and scopes[0][1] <= end:
            first, last, kind = scope = scopes.pop(0)
            inside = write(first, last) if kind != 'insert' else b''
            for number in by_scope[scope]:
                inside = choose(kind, number, changed(mutants[number], source), inside)
            parts += [source[at:first], inside]
            at = last
        return b''.join(parts) + source[at:end]

    return HEADER + write(0, len(source))


def without_lines(source, mutants, lines):
    """Returns those mutants whose scope has none of these lines of the changed source."""
    left = {}
    for number, mutant in mutants.items():
        begin, end, _ = mutant.scope
        first = source.count(b'\n', 0, begin) + 1 + HEADER.count(b'\n')
        if not lines.intersection(range(first, first + source.count(b'\n', begin, end) + 1)):
            left[number] = mutant
    return left


def that_compile(path, source, mutants):
    """Returns those of `mutants`, by number, with which clang accepts the source."""
    left = {n: m for n, m in mutants.items() if changed(m, source) is not None}
    unit = None
    while left:
        files = [(path, with_switches(source, left).decode(errors='replace'))]
        if unit is None:
            unit = cindex.Index.create().parse(path, args=cpp_flags(path), unsaved_files=files, options=QUICK)
        else:
            unit.reparse(files)
        errors = [d for d in unit.diagnostics if d.severity >= ERROR]
        # The error of a constant is where it is declared. A note is where the switch is.
        lines = {at.location.line for error in errors for at in [error, *error.children]
                 if at.location.file is not None and at.location.file.name.endswith(path)}
        if not errors:
            break
        before, left = left, without_lines(source, left, lines)
        if len(left) == len(before):
            return {}
    return left
