# SPDX-License-Identifier: BSD-2-Clause
"""Runs the tests that may find a mutant, those of its room first, until one fails."""
import ctypes
import glob
import os
import re
import resource
import signal
import subprocess

from mutate.build import BROWSER, E2E, UNIT, makes_page

SLOW_MS = 100
# A step may use PATIENCE seconds of a CPU, and twice the time that it takes without a mutant. A step
# that only waits ends after PATIENCE seconds and WAIT times that time. For a test that runs alone, that
# time is at most ALONE seconds.
PATIENCE, WAIT, ALONE = 20, 5, 10
MEMORY = 8 << 30
LIBC = ctypes.CDLL(None)
# Captures that show what a folder does, first and last. They need root.
CAPTURES = {
    'bpf': ('Trigger.*:TriggerQuota.*:Families.*:FamilyCalls.*:Control.*:ControlFire.*:ControlProcess.*:'
            'CpuQuota.*:Unread.*:Snapshot.*'),
    'bpf/families': ('Families.*:SchedulingFamilies.*:FamilyCalls.*:UserEvents.*:ControlFire.*:ControlProcess.*:'
                     'CpuLimits.Stolen*:Unread.*'),
    'bpf/control': 'Control.*:ControlStep*:ControlFire.*:ControlReach.*',
    'bpf/scheduler': ('Snapshot.*:FoundThreads.*:WorkItems.*:CpuQuota.*:Budgets.*:Filters.*:Cgroups.*:'
                      'Unread.*:FamilyCalls.*User*:OwnStacks.*:HoldersAfter.*:Pipeline.*:'
                      'ControlProcess.*:UserEvents.Only*:RandomTrees.*'),
    'user/bpf': 'Filters.*:Families.*:Trigger.*:Control.*',
    'user/chunk': 'Session.*:Trigger.*',
    'user/cli': 'TopCommand.*:Stat.*:Profiles.*:TerminalOutput.*:Signals.*',
    'user/control': 'Control.*:ControlStep*:ControlFire.*:ControlReach.*:ControlEnd.*',
    'user/launch': 'Signals.*:ExitStatus.*:Privileges.*:IdentityTest.*',
    'user/net': 'SendTcp.*:CollectUdp.*',
    'user/probe': 'UserEvents.*',
    'user/record': 'Trigger.*:Session.*:Filters.*:Signals.*',
    'user/select': 'Filters.*:Cgroups.*:RandomTrees.*',
    'user/stacks': 'StackReach.*:OwnStacks.*:Interpreters.*:CodeFileCaptures.*',
    'user/top': 'TopCommand.*',
}
ALL_CAPTURES = ('States.*:Timeline.*:Waker.*:Threads.*:Loss.*:*BlockedIn.*:StackCaptures.*:HoldersIn.*:'
                'HoldersOf.*:CpuLimits.*:BlockedBefore.*:WhyOf.*:Attach.*:IdentityTest.*:Buffer.*:'
                'Directory.*:Accounting.*:FirstUse.*')


def limits(seconds):
    """Runs in the child: it may use so much of a CPU, and ends with this program."""
    LIBC.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


class Step:
    """One run of a test program: what it runs and how long that takes without a mutant."""

    def __init__(self, command, seconds):
        self.command, self.seconds = command, seconds


def googletest(program, chosen):
    return [program, '--gtest_fail_fast', '--gtest_color=no', '--gtest_filter=' + chosen]


class Result:
    def __init__(self, verdict, test='', flaky=0):
        self.verdict, self.test, self.flaky = verdict, test, flaky


class Place:
    """Where tests run: a build with a mutant, or one whose mutants the environment chooses."""

    def __init__(self, folder, log='', environment=None):
        self.folder, self.log, self.environment = folder, log or folder + '.log', environment or {}


def run(place, command, seconds):
    """Returns the exit status, or None after a time-out, and what was printed."""
    cpu = PATIENCE + 2 * int(seconds)
    with open(place.log, 'wb') as out:
        environment = os.environ | {'TEST_PATIENCE': '30'} | place.environment
        child = subprocess.Popen(command, cwd=place.folder, env=environment,
                                 stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                 start_new_session=True, preexec_fn=lambda: limits(cpu))
        try:
            status = child.wait(PATIENCE + WAIT * seconds)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        status = None
    with open(place.log, errors='replace', encoding='utf-8') as file:
        return status, file.read()


def test_that_failed(log):
    """Returns the test that failed or was running at the end, of GoogleTest or of node."""
    failed = re.search(r'^\[  FAILED  \] ([^ ,]+)', log, re.M) or re.search(r'^not ok \d+ - (.*)', log, re.M)
    if failed:
        return failed[1]
    running = ''
    for line in log.splitlines():
        mark = re.match(r'\[( RUN      |       OK |  SKIPPED )\] ([^ ,]+)', line)
        if mark:
            running = mark[2] if 'RUN' in mark[1] else ''
    return running


def capture_filters(room):
    return ([CAPTURES[room]] if room in CAPTURES else []) + [ALL_CAPTURES]


def user_captures(room):
    """Returns the filters of the captures that show what a room of user/ does, if they can run."""
    shown = room.split('/')[0] == 'user' and room != 'user/libovnitrace' and os.geteuid() == 0
    return capture_filters(room) if shown else []


def captures(filters):
    return [Step(googletest(E2E, chosen), 60) for chosen in filters]


class Tests:
    """All tests of the tree: how long each takes, and which belong to which file and room."""

    def __init__(self, tree):
        self.tree = tree
        self.ms = {}
        self.includes = {}  # headers that a test file includes, by the suites in it
        for path in sorted(glob.glob(os.path.join(tree, 'tests/unit/*.cpp'))):
            with open(path, encoding='utf-8') as file:
                text = file.read()
            suites = sorted(set(re.findall(r'^(?:TYPED_)?TEST(?:_[FP])?\((\w+),', text, re.M)))
            if suites:
                self.includes[tuple(suites)] = set(re.findall(r'#include [<"]([^>"]+)[>"]', text))
        self.page = sorted(glob.glob(os.path.join(tree, 'tests/page/*_test.mjs')))

    def measure(self):
        """Runs all unit tests without a mutant, unless this build passed them, and again those that
        fail. Returns one that fails twice, if any."""
        passed, built = self.tree + '.passed.log', os.path.getmtime(os.path.join(self.tree, UNIT))
        if os.path.exists(passed) and os.path.getmtime(passed) > built:
            with open(passed, encoding='utf-8') as file:
                status, log = 0, file.read()
        else:
            status, log = run(Place(self.tree), [UNIT, '--gtest_color=no'], 600)
            failed = set(re.findall(r'^\[  FAILED  \] ([^ ,]+\.[^ ,]+)', log, re.M))
            if failed and ' FAILED TEST' in log:  # it ran to its end
                status, again = run(Place(self.tree), googletest(UNIT, ':'.join(failed)), 600)
                log = again + log
            if status == 0:
                with open(passed, 'w', encoding='utf-8') as file:
                    file.write(log)
        for name, ms in re.findall(r'^\[       OK \] ([^ ,]+).* \((\d+) ms\)$', log, re.M):
            self.ms[name] = int(ms)
        return '' if status == 0 else test_that_failed(log) or 'the end of the suite'

    def before_build(self, path):
        """Returns the steps that read the sources only: node tests the modules of the page."""
        modules = [os.path.relpath(t, self.tree) for t in self.page]
        return [Step(['node', '--test', '--test-reporter=tap'] + modules, 5)] if path.endswith('.js') else []

    def steps(self, path, room):
        if path.startswith('bpf/'):
            return captures(capture_filters(os.path.dirname(path)))
        if makes_page(path):
            return [Step(googletest(BROWSER, '*'), 30)]
        if path.endswith('.sh'):
            tests = sorted(glob.glob(os.path.join(self.tree, 'tests/scripts/*_test.sh')))
            return [Step(['bash', os.path.relpath(t, self.tree)], 10) for t in tests]
        steps = self.unit_steps(path, room)
        steps[-1:-1] = captures(user_captures(room))
        return steps

    def unit_steps(self, path, room):
        stem = re.sub(r'\.\w+$', '', path).removeprefix('include/')
        inside = room.removeprefix('include') + '/' if room != 'include' else 'ovnitrace/'
        own, near = set(), set()
        for suites, used in self.includes.items():
            own.update(suites if any(u.rsplit('.', 1)[0] == stem for u in used) else ())
            near.update(suites if any(u.startswith(inside) for u in used) else ())
        slow = sorted((t for t, ms in self.ms.items() if ms > SLOW_MS), key=lambda t: self.ms[t])
        fast = [t for t, ms in self.ms.items() if ms <= SLOW_MS]
        chosen = []
        for suites in filter(None, (own, near)):
            names = ':'.join(f'{s}.*:*/{s}.*:{s}/*' for s in sorted(suites))
            ms = sum(self.ms[t] for t in fast if suites & set(re.split('[./]', t)))
            chosen.append((names + '-' + ':'.join(slow), ms))
        chosen += [('-' + ':'.join(slow), sum(self.ms[t] for t in fast)),
                   (':'.join(slow), sum(self.ms[t] for t in slow))]
        return [Step(googletest(UNIT, c), ms / 1000) for c, ms in chosen]


def with_filter(command, change):
    return [word if not word.startswith('--gtest_filter=') else '--gtest_filter=' + change(word[15:])
            for word in command]


def find(place, steps, clean):
    """Runs the steps until one fails twice, but not at `clean`, which has no mutant. A test that fails
    once only, or there, too, is flaky and runs no more."""
    flaky = set()
    for step in steps:
        command = step.command
        while True:
            if flaky:
                command = with_filter(step.command, lambda c: c + ('-' if '-' not in c else ':') + ':'.join(flaky))
            status, log = run(place, command, step.seconds)
            if status == 0:
                break
            test = test_that_failed(log)
            alone = test and '.' in test
            again, seconds = ((with_filter(command, lambda c: test), min(step.seconds, ALONE)) if alone
                              else (command, step.seconds))
            second, _ = run(place, again, seconds)
            if second != 0 and (again == command or run(clean, again, seconds)[0] == 0):
                return Result('timeout' if second is None else 'killed',
                              test or ' '.join(command[:2]), len(flaky))
            if not test or test in flaky or again == command:
                break
            flaky.add(test)
    return Result('survived', flaky=len(flaky))
