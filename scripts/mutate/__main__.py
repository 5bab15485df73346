# SPDX-License-Identifier: BSD-2-Clause
"""Draws mutants, builds and tests two at a time, and prints what survives. See scripts/mutate.sh."""
import argparse
import concurrent.futures
import os
import queue
import random
import re
import sys
import time

from mutate import syntax, tokens
from mutate.build import E2E, UNIT, Commands, Workplace
from mutate.kill import Place, Tests, find, user_captures
from mutate.switched import SwitchedTree, listed
from mutate.switches import CPP_ENDINGS, CPP_TREES, cpp_flags

WORKERS = os.cpu_count() or 1
TESTERS = 2 * WORKERS  # tests often wait
EQUIVALENT = 'tests/equivalent_mutants.txt'
LEAST_PERCENT, EQUIVALENT_PERCENT = 95, 10
ENDINGS = ('.cpp', '.c', '.h', '.js', '.css', '.sh')
TREES = ('emulator', 'user', 'bpf', 'include', 'scripts')


def room_of(path):
    folder = os.path.dirname(path)
    if folder.startswith('emulator/report/page'):
        return 'emulator/report/page'
    return '/'.join(folder.split('/')[:2]) if folder.startswith(('emulator/', 'user/')) else folder.split('/')[0]


def code_lines(text):
    """Returns the numbers of the lines that are no comments, brackets or imports."""
    return [number for number, line in enumerate(text.split(b'\n'))
            if not re.match(rb'\s*(//|#|\*|/\*|import |[{}();]*$)', line)]


def mutants_of_cpp(path):
    return syntax.mutants(path, cpp_flags(path), [path])[path]


class Draw:
    """A sequence of mutants that depends on the seed and the sources only."""

    def __init__(self, folder, seed):
        self.random, self.random_line = random.Random(seed), random.Random(seed)
        self.sources, self.found, self.drawn = {}, {}, set()
        paths = (os.path.join(at, name) for top in TREES for at, _, names in os.walk(top)
                 for name in names)
        for path in sorted(paths):
            inside = path.startswith(folder.rstrip('/') + '/') or path == folder or not folder
            if path.endswith(ENDINGS) and inside and not path.startswith('scripts/mutate'):
                with open(path, 'rb') as file:
                    self.sources[path] = file.read()
        self.lines = [(path, line) for path, text in self.sources.items() for line in code_lines(text)]

    def parse(self, count):
        """Parses the C++ files of the next `count` draws of a line, on all CPUs. Many lines have
        no mutant, or none that is left."""
        state = self.random_line.getstate()
        drawn = {self.lines[self.random_line.randrange(len(self.lines))][0] for _ in range(count)}
        self.random_line.setstate(state)
        paths = sorted(path for path in drawn if path.startswith(CPP_TREES) and path.endswith(CPP_ENDINGS))
        with concurrent.futures.ProcessPoolExecutor() as pool:
            for path, found in zip(paths, pool.map(mutants_of_cpp, paths)):
                self.keep(path, found)

    def mutants(self, path):
        """Returns the mutants of a file by line; a file is parsed when it is first drawn."""
        if path not in self.found:
            if path.endswith(('.js', '.css', '.sh')):
                self.keep(path, tokens.mutants(path))
            elif path.startswith('bpf/'):
                for unit in sorted(p for p in os.listdir('bpf') if p.endswith('.bpf.c')):
                    inside = [p for p in self.sources if p.startswith('bpf/')]
                    flags = ['-std=gnu11', '-target', 'bpf', '-D__TARGET_ARCH_x86', '-Iinclude', '-Ibpf']
                    for name, found in syntax.mutants('bpf/' + unit, flags, inside).items():
                        if found or name not in self.found:
                            self.keep(name, found)
            else:
                self.keep(path, mutants_of_cpp(path))
        return self.found[path]

    def keep(self, path, found):
        lines = {}
        for mutant in found:
            lines.setdefault(self.sources[path].count(b'\n', 0, mutant.begin), []).append(mutant)
        self.found[path] = lines

    def next(self):
        """Returns a mutant that was not drawn yet, of any line of code, or None if there is none."""
        while self.lines:
            at = self.random_line.randrange(len(self.lines))
            path, line = self.lines[at]
            left = [m for m in self.mutants(path).get(line, []) if m not in self.drawn]
            if left:
                rule = self.random.choice(sorted({m.rule for m in left}))
                mutant = self.random.choice([m for m in left if m.rule == rule])
                self.drawn.add(mutant)
                return mutant
            self.lines[at] = self.lines[-1]
            self.lines.pop()
        return None


def read_equivalent(path):
    """Returns the reason of each declared mutant: a paragraph has its file, diff and "= reason"."""
    reasons = {}
    if os.path.exists(path):
        with open(path, encoding='utf-8') as file:
            text = '\n'.join(line for line in file.read().splitlines() if not line.startswith('#'))
        for paragraph in filter(None, (p.strip() for p in text.split('\n\n'))):
            name, *lines = paragraph.splitlines()
            reasons[(name, *(line[:2] + line[2:].strip() for line in lines if line[0] in '+-'))] = \
                ' '.join(line[2:] for line in lines if line[0] == '=')
    return reasons


def test_mutant(mutant, source, places, tests):
    place = places.get()
    try:
        place.write(mutant.path, mutant.apply(source))
        at, clean = Place(place.folder), Place(tests.tree)
        result = find(at, tests.before_build(mutant.path), clean)
        if result.verdict == 'survived':
            if not place.build(mutant.path):
                return None
            result = find(at, tests.steps(mutant.path, room_of(mutant.path)), clean)
        return result
    finally:
        place.write(mutant.path, source)
        place.restore()
        places.put(place)


class Report:
    COLUMNS = ('killed', 'timeout', 'survived', 'equivalent')

    def __init__(self, reasons):
        self.reasons, self.rooms = reasons, {}
        self.failed_builds = self.flaky = self.wrong = 0

    def add(self, mutant, source, result):
        key = mutant.key(source)
        verdict = result.verdict
        if key in self.reasons:
            if verdict == 'survived':
                verdict = 'equivalent'
            else:
                self.wrong += 1
                print(f'mutate: declared as equivalent, but found by {result.test}: {key}')
        row = self.rooms.setdefault(room_of(mutant.path), dict.fromkeys(self.COLUMNS, 0))
        row[verdict] += 1
        self.flaky += result.flaky
        by = f' by {result.test}' if result.test else ''
        line = source.count(b'\n', 0, mutant.begin) + 1
        print(f'{mutant.path}:{line}: {mutant.rule}: {verdict}{by}')
        if verdict == 'survived':
            print('\n'.join(mutant.diff(source)))
        sys.stdout.flush()

    def print(self, rooms, seconds):
        print(f'\n{"room":24}' + ''.join(f'{name:>11}' for name in self.COLUMNS) + f'{"rate":>8}')
        total = dict.fromkeys(self.COLUMNS, 0)
        for room in sorted(self.rooms):
            self.line(room, self.rooms[room])
            for name in self.COLUMNS:
                total[name] += self.rooms[room][name]
        self.line('all', total)
        without = sorted(rooms - set(self.rooms))
        if without:
            print('mutate: without a mutant: ' + ' '.join(without))
        print(f'mutate: {self.failed_builds} did not compile and were drawn again, {self.flaky} flaky '
              f'test runs, {seconds / 60:.0f} min')
        count = sum(total.values())
        found = total['killed'] + total['timeout']
        if total['equivalent'] * 100 > count * EQUIVALENT_PERCENT:
            print(f'mutate: more than {EQUIVALENT_PERCENT} % are declared equivalent')
            return False
        return not self.wrong and found * 100 >= (count - total['equivalent']) * LEAST_PERCENT

    def line(self, name, row):
        found = row['killed'] + row['timeout']
        of = found + row['survived']
        rate = f'{100 * found / of:.0f} %' if of else '–'
        print(f'{name:24}' + ''.join(f'{row[c]:11}' for c in self.COLUMNS) + f'{rate:>8}')


def test_switched(switched, draw, tests, pool, report):
    """Tests the mutants that one build has, each with the tests that reach it. Captures test those of
    user/ that no unit test finds."""
    def find_by(steps):
        return lambda number: find(switched.place(number), steps(number), switched.place(0))

    def add(number, result):
        mutant = switched.mutants[number]
        report.add(mutant, draw.sources[mutant.path], result)

    switched.find_reached(UNIT, list(tests.ms))
    left, captures = [], {}
    for number, result in zip(switched.mutants, pool.map(
            find_by(lambda n: switched.unit_steps(n, tests.ms)), switched.mutants)):
        filters = user_captures(room_of(switched.mutants[number].path))
        if result.verdict != 'survived' or not filters:
            add(number, result)
            continue
        left.append(number)
        captures.update(dict.fromkeys(listed(switched.folder, E2E, ':'.join(filters))))
    switched.find_reached(E2E, list(captures))
    for number, result in zip(left, pool.map(find_by(switched.captures), left)):
        add(number, result)


def test_alone(mutants, draw, tests, pool, report):
    """Tests mutants with a build for each. Draws others for those that do not compile."""
    if not mutants:
        return
    commands = Commands('.')
    places = queue.Queue()
    for number in range(WORKERS):
        places.put(Workplace(os.path.abspath(f'../{number}'), os.getcwd(), commands))
    left, running = list(reversed(mutants)), {}

    def submit():
        mutant = left.pop() if left else None
        if mutant is not None:
            source = draw.sources[mutant.path]
            running[pool.submit(test_mutant, mutant, source, places, tests)] = mutant

    for _ in range(WORKERS):
        submit()
    while running:
        done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
        for future in done:
            mutant = running.pop(future)
            result = future.result()
            if result is not None:
                report.add(mutant, draw.sources[mutant.path], result)
            else:
                report.failed_builds += 1
                another = draw.next()
                left += [another] if another else []
            submit()


def main():
    parser = argparse.ArgumentParser(prog='scripts/mutate.sh')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--count', type=int, default=200)
    parser.add_argument('folder', nargs='?', default='')
    options = parser.parse_args()
    start = time.monotonic()
    draw = Draw(options.folder, options.seed)
    if not draw.sources:
        sys.exit(f'mutate: {options.folder}: no source of the project is there')
    draw.parse(3 * options.count)
    drawn = list(filter(None, (draw.next() for _ in range(options.count))))
    tests = Tests(os.getcwd())
    failed = tests.measure()
    if failed:
        sys.exit(f'mutate: {failed} fails without a mutant: see build/mutate/tree.log')
    switched = SwitchedTree(os.getcwd(), draw.sources, drawn)
    if not switched.build():
        sys.exit('mutate: the build with switches fails: see build/mutate/switched.build.log')
    report = Report(read_equivalent(EQUIVALENT))
    with concurrent.futures.ThreadPoolExecutor(TESTERS) as pool:
        if switched.mutants:
            print(f'mutate: {len(switched.mutants)} of {len(drawn)} mutants are in one build, after '
                  f'{(time.monotonic() - start) / 60:.0f} min', flush=True)
            test_switched(switched, draw, tests, pool, report)
        chosen = set(switched.mutants.values())
        test_alone([m for m in drawn if m not in chosen], draw, tests, pool, report)
    rooms = {room_of(path) for path in draw.sources}
    sys.exit(0 if report.print(rooms, time.monotonic() - start) else 1)


if __name__ == '__main__':
    main()
