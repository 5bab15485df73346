# SPDX-License-Identifier: BSD-2-Clause
"""Mutants of JavaScript, CSS and shell scripts by rule, from their tokens."""
import re

from mutate.rules import COMPARISONS, OPERATORS, OPPOSITES, Mutant, numbers, texts

JS = re.compile(r"""
  (?P<skip>//[^\n]*|/\*.*?\*/|^import[^\n]*|^export[ ]\{[^\n]*
    |(?<=[=(,:?&|!])[ ]*/(?:[^/\\\n]|\\.)+/[a-z]*|`(?:[^`\\]|\\.)*`)
  |(?P<text>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
  |(?P<number>\b\d[\w.]*)
  |(?P<name>[A-Za-z_$][\w$]*)
  |(?P<sign>===|!==|<<=|>>=|=>|\?\?|\*\*|\.\.\.|\+\+|--|<=|>=|&&|\|\||[-+*/%&|]=|<<|>>|[-+*/%<>])
""", re.X | re.S | re.M)
CSS = re.compile(r'(?P<skip>/\*.*?\*/)|(?P<text>\#[0-9a-fA-F]{6}\b|\#[0-9a-fA-F]{3}\b)', re.S)
SHELL = re.compile(r"""
  (?P<skip>(?:^|(?<=\s))\#[^\n]*|^\#![^\n]*)
  |(?P<text>'[^']*')
  |(?P<sign>&&|\|\||(?<=\s)(?:-eq|-ne|-lt|-le|-gt|-ge|-z|-n|==|!=)(?=\s))
  |(?P<number>(?<=[\s=(])\d+(?=[\s;)]|$))
  |(?P<name>\b(?:head|tail|true|false|exit|return)\b)
""", re.X | re.M)
SHELL_SIGNS = {'-eq': '-ne', '-ne': '-eq', '-lt': '-le', '-le': '-lt', '-gt': '-ge', '-ge': '-gt',
               '-z': '-n', '-n': '-z', '==': '!=', '!=': '==', '&&': '||', '||': '&&'}
STATEMENT = {'.js': re.compile(r'^ +(?!return|const|let|import|throw)[A-Za-z_$][^\n{}]*;$', re.M),
             '.sh': re.compile(r'^ *(?:[a-z_]+=|[a-z_]+ )[^\n|&({]*[^\n\\|&({;]$', re.M)}
JS_CONDITION = re.compile(r'\bif \(((?:[^()\n]|\([^()\n]*\))*)\)')
SHELL_KEYWORDS = re.compile(r' *(if|then|else|elif|fi|for|while|do|done|case|esac|local|set|END)\b')
JS_BLOCK = re.compile(r'^(?:export )?(?:function|  (?:static )?[a-zA-Z]+\()[^\n]*\{\n', re.M)


def mutants(path):
    """Returns the mutants of a file, by its ending."""
    with open(path, 'rb') as file:
        source = file.read()
    text = source.decode()
    kind = path[path.rfind('.'):]
    found = set()

    def add(begin, end, new, rule):
        if text[begin:end] != new:
            at = len(text[:begin].encode())
            found.add(Mutant(path, at, at + len(text[begin:end].encode()), new.encode(), rule))

    skipped = []
    for token in {'.js': JS, '.css': CSS, '.sh': SHELL}[kind].finditer(text):
        begin, end, value = token.start(), token.end(), token.group()
        if token.lastgroup == 'skip':
            skipped.append((begin, end))
        elif token.lastgroup == 'text':
            inset = 0 if value[0] == '#' else 1
            for new, rule in texts(value[inset:len(value) - inset]):
                add(begin + inset, end - inset, new, rule)
        elif token.lastgroup == 'number':
            for new, rule in numbers(value):
                add(begin, end, new, rule)
        elif token.lastgroup == 'name':
            for new in OPPOSITES.get(value, []):
                add(begin, end, new, 'first and last')
            if value in ('true', 'false'):
                add(begin, end, 'false' if value == 'true' else 'true', 'constant')
        elif kind == '.sh':
            rule = 'arithmetic' if value in ('&&', '||') else 'comparison'
            add(begin, end, SHELL_SIGNS[value], rule)
        elif value in ('++', '--'):
            add(begin, end, '--' if value == '++' else '++', 'arithmetic')
        else:
            for new in OPERATORS.get(value, []):
                add(begin, end, new, 'comparison' if value in COMPARISONS else 'arithmetic')

    def inside_skipped(begin):
        return any(b <= begin < e for b, e in skipped)

    if kind in STATEMENT:
        for match in STATEMENT[kind].finditer(text):
            if inside_skipped(match.start()) or (kind == '.sh' and SHELL_KEYWORDS.match(match.group())):
                continue
            begin = match.end() - len(match.group().lstrip())
            add(begin, match.end(), ';' if kind == '.js' else ':', 'removed statement')
    if kind == '.js':
        for match in JS_CONDITION.finditer(text):
            if not inside_skipped(match.start()):
                for new in ('true', 'false'):
                    add(match.start(1), match.end(1), new, 'condition')
        for match in JS_BLOCK.finditer(text):
            add(match.end(), match.end(), 'return; ', 'early return')
    return sorted(found)
