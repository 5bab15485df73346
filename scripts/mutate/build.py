# SPDX-License-Identifier: BSD-2-Clause
"""Builds mutants: one object, one link, in a folder that shares all else with a build without mutants."""
import os
import re
import shutil
import subprocess

UNIT, E2E, BROWSER = 'build/tests/unit_tests', 'build/tests/e2e_tests', 'build/tests/browser_tests'
COMMAND = 'build/ovnitrace'
LIBRARY = 'build/libovnitrace.so.0'  # tests load it

MANY = 6  # objects, from which on they are compiled together


def makes_page(path):
    """Returns whether a file is a part of the report page, which a browser tests."""
    return path.startswith('emulator/report/page/') or path == 'emulator/report/assemble.sh'


def source_of(made):
    return made[len('build/obj/'):-len('.o')]


def archive_of(made):
    """Returns the archive that an object is in, if it is in one."""
    if made.startswith('build/obj/user/libovnitrace/'):
        return 'build/libovnitrace.a'
    if made.startswith('build/obj/emulator/') and made != 'build/obj/emulator/cli/main.cpp.o':
        return 'build/libemulator.a'
    return ''


class Commands:
    """What make would run for each file that it makes, and what each object depends on."""

    def __init__(self, tree):
        self.of = {}
        self.users = {}  # objects that read a file
        listed = subprocess.run(['make', '-nB', 'V=1', UNIT, COMMAND, BROWSER, E2E], cwd=tree, check=True,
                                capture_output=True, text=True).stdout
        for line in listed.splitlines():
            target = re.search(r'(?: -o | > )(build/\S+)', line)
            if target and 'printf' not in line:
                line = re.sub(r'.*mkdir -p \S+; ', '', line)
                line = re.sub(r' -MMD -MP| -Werror| -Wall| -Wextra', '', line)
                self.of[target[1]] = line
        for folder, _, names in os.walk(os.path.join(tree, 'build/obj')):
            for name in names:
                made = os.path.relpath(os.path.join(folder, name[:-2] + '.o'), tree)
                if name.endswith('.d') and made in self.of:
                    self.read_dependencies(os.path.join(folder, name), made)

    def read_dependencies(self, path, made):
        with open(path, encoding='utf-8') as file:
            rule = file.read().split('\n\n')[0].replace('\\\n', ' ').split('\n')[0]
        for used in rule.split(':', 1)[1].split():
            self.users.setdefault(os.path.normpath(used), set()).add(made)


class Workplace:
    """A copy of the sources for one mutant at a time, with links to what is built without it."""

    def __init__(self, folder, tree, commands):
        self.folder, self.tree, self.commands = folder, tree, commands
        self.made = []
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tree, folder, ignore=lambda at, names: ['build'] if at == tree else [])
        self.link_all('build')
        for real in ('build/tests', 'build/report'):
            os.unlink(self.path(real))
            self.link_all(real)

    def path(self, name):
        return os.path.join(self.folder, name)

    def link_all(self, name):
        os.mkdir(self.path(name))
        for entry in os.listdir(os.path.join(self.tree, name)):
            self.link_one(os.path.join(name, entry))

    def link_one(self, name):
        """Links to a file or folder of the build. A program finds others beside its own file, so
        that a file is a hard link."""
        original = os.path.join(self.tree, name)
        (os.symlink if os.path.isdir(original) or os.path.islink(original) else os.link)(
            original, self.path(name))

    def write(self, path, data):
        """Writes a file of the sources; scripts stay executable."""
        with open(self.path(path), 'wb') as file:
            file.write(data)

    def run(self, command):
        """Runs a command of make; ccache need not keep what is compiled once."""
        return subprocess.run(command, shell=True, cwd=self.folder,
                              env=os.environ | {'CCACHE_DISABLE': '1'}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0

    def make(self, target, command=None):
        """Makes a file of the build here, in place of the link to it."""
        if os.path.lexists(self.path(target)):
            os.unlink(self.path(target))
        self.made.append(target)
        return self.run(command or self.commands.of[target])

    def compile(self, objects):
        """Compiles objects into a folder of their own. Returns where each is, or None on failure. An
        object that is inside that of another is at ''."""
        here = {}
        for first, *others in self.units(sorted(objects)):
            here[first] = 'build/mutant/' + first[len('build/obj/'):]
            os.makedirs(self.path(os.path.dirname(here[first])), exist_ok=True)
            command = self.commands.of[first].replace(' -o ' + first, ' -w -o ' + here[first])
            if others:
                unit = here[first] + '.cpp'
                with open(self.path(unit), 'w', encoding='utf-8') as file:
                    file.writelines(f'#include "{source_of(made)}"\n' for made in [first] + others)
                command = re.sub(rf' {re.escape(source_of(first))}(?= |$)', ' ' + unit, command)
                here.update(dict.fromkeys(others, ''))
            if not self.run(command):
                return None
        return here

    def units(self, objects):
        """Returns lists of objects to compile together: each alone, or, if a header has many users,
        units of those with the same flags that are linked into the same programs."""
        if len(objects) < MANY:
            return [[made] for made in objects]
        same = {}
        for made in objects:
            flags = self.commands.of[made].replace(made, '').replace(source_of(made), '')
            programs = tuple(made in self.commands.of[p].split() for p in (UNIT, COMMAND))
            same.setdefault((flags, archive_of(made), programs), []).append(made)
        units = []
        for together in same.values():
            if source_of(together[0]).endswith('.c'):
                units += [[made] for made in together]
                continue
            listed = subprocess.run(['scripts/units.sh'] + [source_of(made) for made in together],
                                    cwd=self.folder, check=True, capture_output=True, text=True).stdout
            units += [[f'build/obj/{source}.o' for source in line.split()] for line in listed.splitlines()]
        return units

    def link(self, target, here):
        """Links a program with these objects in place of those of the build."""
        command = self.commands.of[target].replace('g++ ', 'g++ -fuse-ld=lld -Wl,-S ', 1)
        words = set(command.split())
        members = [mutant for made, mutant in here.items() if mutant and archive_of(made) in words]
        for made, mutant in here.items():
            command = command.replace(f' {made} ', f' {mutant} ')
        # Before its archive: then no member of the archive is taken for what is in it.
        return self.make(target, command.replace(' build/lib', ' ' + ' '.join(members) + ' build/lib', 1))

    def restore(self):
        """Puts links in place of what was made."""
        for target in self.made:
            if os.path.lexists(self.path(target)):
                os.unlink(self.path(target))
            if os.path.exists(os.path.join(self.tree, target)):
                self.link_one(target)
        self.made.clear()
        shutil.rmtree(self.path('build/mutant'), ignore_errors=True)

    def build(self, path):
        """Builds what the tests of a changed file need. Returns whether that worked."""
        users = self.commands.users.get(path, set())
        if path.startswith('bpf/'):
            return self.build_bpf(path)
        if makes_page(path):
            made = 'build/obj/emulator/report/page.cpp.o'
            if not self.make('build/report/page.inc'):
                return False
            here = self.compile([made])
            return here is not None and self.link(BROWSER, here)
        if path.endswith('.sh'):
            return self.run(f'bash -n {path}')
        if not users:
            return False
        own = [made for made in users if made == f'build/obj/{path}.o']
        linked = set(self.commands.of[UNIT].split() + self.commands.of[COMMAND].split())
        here = self.compile(own or [made for made in users if made in linked or
                                    archive_of(made) in linked])
        return bool(here) and self.link(UNIT, here) and \
            (not path.startswith('user/') or self.link(COMMAND, here)) and \
            (not path.startswith('user/libovnitrace/') or self.link(LIBRARY, here))

    def build_bpf(self, path):
        objects = set()
        for name in sorted(os.listdir(self.path('bpf'))):
            stem = name.removesuffix('.bpf.c')
            if stem == name or path not in self.included('bpf/' + name):
                continue
            skeleton = f'build/{stem}.skel.h'
            if not self.make(f'build/{stem}.bpf.o') or not self.make(skeleton):
                return False
            objects |= {made for made in self.commands.users.get(skeleton, ()) if 'tests/' not in made}
        here = self.compile(objects)
        return here is not None and self.link(COMMAND, here)

    def included(self, unit):
        """Returns a BPF unit and all of bpf/ that it includes."""
        found, left = set(), [unit]
        while left:
            path = left.pop()
            if path in found or not os.path.exists(self.path(path)):
                continue
            found.add(path)
            with open(self.path(path), encoding='utf-8') as file:
                names = re.findall(r'^#include "(.*)"', file.read(), re.M)
            left += ['bpf/' + name for name in names] + \
                [os.path.join(os.path.dirname(path), name) for name in names]
        return found
