# SPDX-License-Identifier: BSD-2-Clause
"""What a mutant is, and the rules that need only text: operators, numbers, names, literals."""
import difflib
import re
from dataclasses import dataclass, field

OPERATORS = {
    '<': ['<=', '>='], '<=': ['<', '>'], '>': ['>=', '<='], '>=': ['>', '<'],
    '==': ['!='], '!=': ['=='], '===': ['!=='], '!==': ['==='], '&&': ['||'], '||': ['&&'],
    '+': ['-'], '-': ['+'], '*': ['/'], '/': ['*'], '%': ['/'], '<<': ['>>'], '>>': ['<<'],
    '&': ['|'], '|': ['&'], '^': ['|'],
    '+=': ['=', '-='], '-=': ['=', '+='], '*=': ['='], '/=': ['='], '|=': ['='], '&=': ['='],
    '<<=': ['='], '>>=': ['='],
}
COMPARISONS = {'<', '<=', '>', '>=', '==', '!=', '===', '!=='}

# First and last: a name is replaced by its opposite.
OPPOSITES = {}
for _a, _b in (('begin', 'end'), ('cbegin', 'cend'), ('rbegin', 'rend'), ('front', 'back'),
               ('first', 'second'), ('first', 'last'), ('min', 'max'), ('lower_bound', 'upper_bound'),
               ('push_front', 'push_back'), ('emplace_front', 'emplace_back'),
               ('pop_front', 'pop_back'), ('find_first_of', 'find_last_of'), ('find', 'rfind'),
               ('starts_with', 'ends_with'), ('startsWith', 'endsWith'), ('floor', 'ceil'),
               ('indexOf', 'lastIndexOf'), ('find', 'findLast'), ('unshift', 'push'),
               ('some', 'every'), ('head', 'tail')):
    OPPOSITES.setdefault(_a, []).append(_b)
    OPPOSITES.setdefault(_b, []).append(_a)

UNITS = {'1000': '1024', '1024': '1000', '1000000': '1000', '1000000000': '1000000', '1e3': '1e6',
         '1e6': '1e3', '1e9': '1e6', '60': '100'}
TEXT_UNITS = [('ns', 'us'), ('us', 'ms'), ('ms', 's'), ('kHz', 'Hz'), ('KiB', 'kB'), ('MiB', 'MB')]


@dataclass(frozen=True, order=True)
class Mutant:
    """A text to put in place of the bytes from `begin` to `end` of a file. `scope` is what a switch
    can choose at run time: (begin, end, kind), or None."""
    path: str
    begin: int
    end: int
    text: bytes
    rule: str
    scope: tuple = field(default=None, compare=False)

    def apply(self, source):
        return source[:self.begin] + self.text + source[self.end:]

    def diff(self, source):
        """Returns the lines that a person reads: a unified diff with one line around."""
        before = source.decode(errors='replace').splitlines()
        after = self.apply(source).decode(errors='replace').splitlines()
        return list(difflib.unified_diff(before, after, self.path, self.path, n=1, lineterm=''))

    def key(self, source):
        """Returns what it is found by in the list of equivalent mutants: no line numbers."""
        lines = [line[0] + ' ' + line[1:].strip() for line in self.diff(source)[3:]
                 if line[0] in '+-']
        return (self.path, *lines)


def numbers(text):
    """Returns what a number is replaced by, with the rule of each."""
    plain = re.sub(r"['_uUlL]", '', text)
    if plain in UNITS:
        return [(UNITS[plain], 'unit')]
    if re.fullmatch(r'0x[0-9a-fA-F]{6}', plain):  # a colour, most likely
        return [(f'0x{int(plain, 16) ^ 0x101010:06x}', 'colour')]
    try:
        value = int(plain, 0)
    except ValueError:
        return []
    suffix = re.search(r'[uUlL]*$', text).group() if not plain.startswith('0x') else ''
    changed = [(f'{value + 1}{suffix}', 'limit')]
    if value > 0:
        changed.append((f'{value - 1}{suffix}', 'limit'))
    return changed


def texts(text):
    """Returns what the inside of a literal is replaced by, with the rule of each."""
    colour = re.fullmatch(r'#([0-9a-fA-F]{6}|[0-9a-fA-F]{3})', text)
    if colour:
        digit = format(int(text[1], 16) ^ 8, 'x')
        return [('#' + digit + text[2:], 'colour')]
    changed = [(re.sub(rf'\b{a}\b', b, text, count=1), 'unit')
               for a, b in TEXT_UNITS if re.search(rf'\b{a}\b', text)][:1]
    if not text:
        return changed + [('x', 'literal')]
    if len(text) > 1 and text[-2] != '\\' and text[-1] != '}':
        changed.append((text[:-1], 'literal'))
    else:
        changed.append(('x' + text, 'literal'))
    return changed
