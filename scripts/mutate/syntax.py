# SPDX-License-Identifier: BSD-2-Clause
"""Mutants of C++, C and BPF C by rule, from the syntax tree that libclang makes of a file."""
import re
from clang import cindex
from clang.cindex import CursorKind as Kind

from mutate.rules import COMPARISONS, OPERATORS, OPPOSITES, Mutant, numbers, texts

BINARY = {Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR, Kind.UNEXPOSED_EXPR}
STATEMENTS = {Kind.CALL_EXPR, Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR,
              Kind.UNARY_OPERATOR, Kind.UNEXPOSED_EXPR, Kind.BREAK_STMT, Kind.CONTINUE_STMT,
              Kind.CXX_DELETE_EXPR}
FUNCTIONS = {Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR,
             Kind.FUNCTION_TEMPLATE, Kind.CONVERSION_FUNCTION, Kind.LAMBDA_EXPR}
# Statements that change speed or warnings only.
WITHOUT_EFFECT = re.compile(rb'\breserve\(|\bshrink_to_fit\(|\(void\)|\bassert\(|\bposix_fadvise\('
                            rb'|\bsigemptyset\(|\bprctl\(PR_SET_NAME')
SWITCHED = {Kind.RETURN_STMT, Kind.BREAK_STMT, Kind.CONTINUE_STMT}
BODIES = {Kind.COMPOUND_STMT, Kind.IF_STMT, Kind.FOR_STMT, Kind.WHILE_STMT, Kind.CXX_FOR_RANGE_STMT}
# What `{}` is in most types. A `return` of one has no early return.
EMPTY = {b'std::nullopt', b'nullptr', b'false', b'0', b'""', b'{}'}


class Finder:
    """Collects the mutants of the files of one translation unit."""

    def __init__(self, sources):
        self.sources = sources  # bytes by path
        self.found = {path: set() for path in sources}
        self.scope = None  # of what is visited now
        self.in_field = False
        self.always_0 = False  # the function that is visited always returns 0

    def add(self, path, begin, end, text, rule, scope=None):
        if isinstance(text, str):
            text = text.encode()
        scope = scope or self.scope
        if scope and not scope[0] <= begin <= end <= scope[1]:
            scope = None
        if self.sources[path][begin:end] != text:
            self.found[path].add(Mutant(path, begin, end, text, rule, scope))

    def visit(self, path, cursor, parent):
        if cursor.kind == Kind.STATIC_ASSERT:
            return
        outer = self.scope, self.in_field, self.always_0
        # The value of a member may be part of a constant in another file.
        self.in_field |= cursor.kind == Kind.FIELD_DECL and path.endswith('.h')
        if cursor.kind in FUNCTIONS:
            self.always_0 = path.startswith('bpf/') and self.returns_of(path, cursor) == {b'return 0'}
        self.scope = None if self.in_field else self.scope_of(path, cursor, parent)
        self.visit_in_scope(path, cursor, parent)
        self.scope, self.in_field, self.always_0 = outer

    def scope_of(self, path, cursor, parent):
        """Returns what a switch can choose that contains a node: the whole statement, condition or
        expression, because both sides of a switch must have the same type."""
        begin, end, kind = cursor.extent.start.offset, cursor.extent.end.offset, cursor.kind
        if kind.is_statement():
            return (begin, end, 'statement') if kind in SWITCHED else None
        if not kind.is_expression():
            return None if kind.is_declaration() else self.scope
        if self.scope is not None:
            return self.scope
        siblings = list(parent.get_children()) if parent is not None else []
        if parent is not None and parent.kind in BODIES:
            if parent.kind == Kind.COMPOUND_STMT or cursor == siblings[-1]:
                return (begin, end, 'statement')
            if parent.kind in (Kind.IF_STMT, Kind.WHILE_STMT):
                return (begin, end, 'condition' if cursor == siblings[0] else 'statement')
        text = self.sources[path][begin:end]
        named = parent is not None and parent.kind.is_declaration() and parent.spelling and \
            text.startswith(parent.spelling.encode())
        initializer = parent is not None and parent.kind == Kind.CONSTRUCTOR
        return None if text[:1] in (b'{', b'') or named or initializer else (begin, end, 'expression')

    def visit_in_scope(self, path, cursor, parent):
        begin, end = cursor.extent.start.offset, cursor.extent.end.offset
        kind = cursor.kind
        children = list(cursor.get_children())
        if kind in BINARY or (kind == Kind.CALL_EXPR and cursor.spelling.startswith('operator')):
            self.operator(path, children)
        elif kind == Kind.UNARY_OPERATOR:
            self.unary(path, begin, end)
        if kind == Kind.CALL_EXPR and not re.match(r'(operator|min$|max$)', cursor.spelling):
            self.arguments(path, cursor)
        if kind == Kind.INTEGER_LITERAL and self.always_0 and parent.kind == Kind.RETURN_STMT:
            return  # nobody looks at what it returns: the kernel, or the verifier, asks for a number
        if kind in (Kind.INTEGER_LITERAL, Kind.FLOATING_LITERAL):
            self.literal(path, begin, end, numbers)
        elif kind == Kind.STRING_LITERAL:
            self.string(path, begin, end)
        elif kind in (Kind.CXX_BOOL_LITERAL_EXPR,):
            value = self.sources[path][begin:end]
            self.add(path, begin, end, {b'true': 'false', b'false': 'true'}.get(value, value), 'constant')
        elif kind in (Kind.MEMBER_REF_EXPR, Kind.DECL_REF_EXPR):
            self.opposite(path, end, cursor.spelling)
        elif kind == Kind.IF_STMT and children:
            self.condition(path, children, cursor)
        elif kind == Kind.CONDITIONAL_OPERATOR and len(children) == 3:
            for value in ('true', 'false'):
                self.add(path, children[0].extent.start.offset, children[0].extent.end.offset,
                         value, 'condition')
        elif kind == Kind.RETURN_STMT and children:
            extent = children[0].extent
            if self.sources[path][extent.start.offset:extent.end.offset] not in EMPTY:
                self.add(path, extent.start.offset, extent.end.offset, '{}', 'early return')
        if kind == Kind.COMPOUND_STMT:
            self.block(path, children, parent)
        elif kind in (Kind.IF_STMT, Kind.FOR_STMT, Kind.WHILE_STMT, Kind.CXX_FOR_RANGE_STMT) and children:
            self.statement(path, children[-1])
        for child in children:
            where = child.location.file
            if where is not None and where.name == path:
                self.visit(path, child, cursor)

    def returns_of(self, path, function):
        """Returns the texts of the return statements of a function."""
        return {self.sources[path][c.extent.start.offset:c.extent.end.offset]
                for c in function.walk_preorder() if c.kind == Kind.RETURN_STMT}

    def operator(self, path, children):
        if len(children) not in (2, 3):
            return
        begin, end = children[0].extent.end.offset, children[-1].extent.start.offset
        between = self.sources[path][begin:end]
        sign = between.strip().decode(errors='replace')
        at = begin + len(between) - len(between.lstrip())
        for other in OPERATORS.get(sign, []):
            rule = 'comparison' if sign in COMPARISONS else 'arithmetic'
            self.add(path, at, at + len(sign), other, rule)

    def unary(self, path, begin, end):
        text = self.sources[path][begin:end]
        for sign, other in ((b'++', b'--'), (b'--', b'++')):
            if text.startswith(sign):
                self.add(path, begin, begin + 2, other, 'arithmetic')
            elif text.endswith(sign):
                self.add(path, end - 2, end, other, 'arithmetic')
        if text.startswith(b'!'):
            self.add(path, begin, begin + 1, '', 'condition')

    def arguments(self, path, call):
        parts = [(a.type.get_canonical().spelling.replace('const ', ''), a.extent.start.offset,
                  a.extent.end.offset) for a in call.get_arguments() if a is not None]
        source = self.sources[path]
        for (one, b1, e1), (two, b2, e2) in zip(parts, parts[1:]):
            if one == two and b1 < e1 <= b2 < e2 and source[b1:e1] != source[b2:e2]:
                self.add(path, b1, e2, source[b2:e2] + source[e1:b2] + source[b1:e1], 'arguments')

    def literal(self, path, begin, end, change):
        for text, rule in change(self.sources[path][begin:end].decode(errors='replace')):
            self.add(path, begin, end, text, rule)

    def string(self, path, begin, end):
        match = re.fullmatch(rb'"((?:[^"\\]|\\.)*)"', self.sources[path][begin:end])
        if match:
            self.literal(path, begin + 1, end - 1, texts)

    def opposite(self, path, end, name):
        begin = end - len(name.encode())
        if self.sources[path][begin:end] == name.encode():
            for other in OPPOSITES.get(name, []):
                self.add(path, begin, end, other, 'first and last')

    def condition(self, path, children, cursor):
        # With an initializer the condition is not the first child: the text before "(" says so.
        head = children[0]
        if not head.kind.is_expression() or self.sources[path][cursor.extent.start.offset:].startswith(
                (b'if constexpr',)):
            return
        begin, end = head.extent.start.offset, head.extent.end.offset
        for value in ('true', 'false'):
            self.add(path, begin, end, value, 'condition', (begin, end, 'condition'))

    def statement(self, path, child):
        begin, end = child.extent.start.offset, child.extent.end.offset
        text = self.sources[path][begin:end]
        if child.kind in STATEMENTS and self.sources[path][end:end + 1] == b';' and \
                not WITHOUT_EFFECT.search(text):
            self.add(path, begin, end, '', 'removed statement', (begin, end, 'statement'))

    def block(self, path, children, parent):
        for child in children:
            self.statement(path, child)
        if parent is not None and parent.kind in FUNCTIONS and children:
            begin = children[0].extent.start.offset
            of = parent.result_type.spelling
            value = 'return; ' if of in ('void', '') else 'return {}; '
            self.add(path, begin, begin, value, 'early return', (begin, begin, 'insert'))


def mutants(unit, flags, paths):
    """Parses `unit` and returns the mutants of those of its files that `paths` names, by path."""
    sources = {}
    for path in paths:
        with open(path, 'rb') as file:
            sources[path] = file.read()
    tree = cindex.Index.create().parse(unit, args=flags)
    finder = Finder(sources)
    for cursor in tree.cursor.get_children():
        where = cursor.location.file
        if where is not None and where.name in sources:
            finder.visit(where.name, cursor, None)
    return {path: sorted(found) for path, found in finder.found.items()}
