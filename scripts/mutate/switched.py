# SPDX-License-Identifier: BSD-2-Clause
"""One build with many mutants, and which tests reach each: only those can find it."""
import collections
import concurrent.futures
import itertools
import os
import re
import shutil
import subprocess
import tempfile

from mutate import switches
from mutate.build import E2E, UNIT
from mutate.kill import Place, Step, googletest, run

TRIES = 8  # builds, each without the mutants that the one before refused
FIRST_MS = 1000  # tests that run first, as one process
# The sources are compiled together; most of the tests run only a few tests of a slower build.
MAKE = ['make', '-k', f'-j{os.cpu_count()}', 'UNITS=1', 'OPT=-O1 -g0', 'OPT_TESTS=-O0 -g0', 'WARN=-w', 'V=1']


class SwitchedTree:
    """A copy of the tree with switches. `mutants` are in it, by number from 1."""

    def __init__(self, tree, sources, drawn):
        self.tree, self.folder = tree, os.path.join(os.path.dirname(tree), 'switched')
        self.sources, self.mutants = sources, {}
        self.reached = collections.defaultdict(list)  # tests by program and mutant
        by_path = {}
        for number, mutant in enumerate(drawn, 1):
            by_path.setdefault(mutant.path, {})[number] = mutant
        with concurrent.futures.ProcessPoolExecutor() as pool:
            jobs = {path: pool.submit(switches.that_compile, path, sources[path], mutants)
                    for path, mutants in by_path.items()
                    if path.startswith(switches.CPP_TREES) and path.endswith(switches.CPP_ENDINGS)}
            self.by_path = {path: job.result() for path, job in jobs.items()}

    def build(self):
        """Builds, without what the compiler refuses. Returns whether that worked."""
        if not any(self.by_path.values()):
            return True
        captures = os.geteuid() == 0 and any(path.startswith('user/') for path in self.by_path)
        for _ in range(TRIES):
            self.write()
            made = subprocess.run(MAKE + ['all', UNIT] + [E2E] * captures, cwd=self.folder, check=False,
                                  text=True, errors='replace', stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, env=os.environ | {'CCACHE_DISABLE': '1'})
            with open(self.folder + '.build.log', 'w', encoding='utf-8') as log:
                log.write(made.stdout)
            if made.returncode == 0:
                self.mutants = {n: m for mutants in self.by_path.values() for n, m in mutants.items()}
                return True
            if not self.drop_refused(made.stdout):
                return False
        return False

    def drop_refused(self, log):
        """Drops the mutants on the lines that the compiler names, or else those of the files that it
        names, or else those of all headers. Returns whether there were any."""
        lines = collections.defaultdict(set)
        for path, line in re.findall(r'^([\w./]+):(\d+):\d+: (?:error|note|  required)', log, re.M):
            lines[os.path.normpath(path)].add(int(line))
        if not lines:
            return False  # no compiler complains: the disk may be full
        with_mutants = {path: mutants for path, mutants in self.by_path.items() if mutants}
        named = {path: mutants for path, mutants in with_mutants.items() if path in lines} or \
            {path: {} for path in with_mutants if path.endswith('.h')}
        left = {path: switches.without_lines(self.sources[path], mutants, lines[path])
                for path, mutants in named.items()}
        self.by_path |= left if left != named else dict.fromkeys(named, {})
        return bool(named)

    def write(self):
        """Writes what differs from what is there, so that make builds only that."""
        for at, folders, names in os.walk(self.tree):
            if at == self.tree:
                folders.remove('build')
            here = os.path.join(self.folder, os.path.relpath(at, self.tree))
            os.makedirs(here, exist_ok=True)
            for name in set(os.listdir(here)) - set(names) - set(folders) - {'build'}:
                remove(os.path.join(here, name))  # moved or removed since an earlier run
            for name in names:
                self.write_file(os.path.join(at, name), os.path.join(here, name))

    def write_file(self, original, copy):
        with open(original, 'rb') as file:
            text = file.read()
        path = os.path.relpath(original, self.tree)
        if self.by_path.get(path):
            text = switches.with_switches(text, self.by_path[path])
        if os.path.exists(copy):
            with open(copy, 'rb') as file:
                if file.read() == text:
                    return
        with open(copy, 'wb') as file:
            file.write(text)
        shutil.copymode(original, copy)

    def place(self, number):
        return Place(self.folder, f'{self.folder}.{number}.log', {'MUTANT_ON': str(number)})

    def find_reached(self, program, tests):
        """Runs each test without a mutant and notes which mutants it reaches."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for test, numbers in zip(tests, pool.map(lambda t: self.reached_by(program, t), tests)):
                for number in numbers:
                    self.reached[program, number].append(test)

    def reached_by(self, program, test):
        with tempfile.NamedTemporaryFile(prefix='reached.') as file:
            file.truncate(max(self.mutants) + 1)
            os.chmod(file.name, 0o666)  # some tests run as another user
            place = Place(self.folder, file.name + '.log', {'MUTANTS_REACHED': file.name})
            run(place, [program, f'--gtest_filter={test}'], 60)
            os.unlink(place.log)
            return [number for number, byte in enumerate(file.read()) if byte]

    def unit_steps(self, number, ms):
        """Returns the runs of unit tests that may find a mutant: quick tests first."""
        tests = sorted(self.reached[UNIT, number], key=lambda t: ms[t])
        sums = itertools.accumulate(ms[t] for t in tests)
        quick = [t for t, sum_ms in zip(tests, sums) if sum_ms <= FIRST_MS]
        return [Step(googletest(UNIT, ':'.join(chosen)), sum(ms[t] for t in chosen) / 1000)
                for chosen in (quick, tests[len(quick):]) if chosen]

    def captures(self, number):
        """Returns the run of the captures that reach a mutant, if any does."""
        tests = self.reached[E2E, number]
        return [Step(googletest(E2E, ':'.join(tests)), 60)] if tests else []


def remove(path):
    shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.remove(path)


def listed(folder, program, chosen):
    """Returns the names of the tests that a filter chooses."""
    text = subprocess.run([program, '--gtest_list_tests', '--gtest_filter=' + chosen], cwd=folder, check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    names, suite = [], ''
    for line in text.splitlines():
        word = line.split('#')[0].rstrip()
        if word.startswith('  '):
            names.append(suite + word.strip())
        elif word.endswith('.'):
            suite = word
    return names
