# SPDX-License-Identifier: BSD-2-Clause
# ovnitrace: what the Linux scheduler did to your threads, on a Paraver timeline.
#
# `make help` lists the targets. Sources are found by folder: a new file needs no change here.
#
#   make                build build/ovnitrace and libovnitrace
#   make demo           install what is missing, build, trace a sample program
#   make test           install what is missing, build, run every test
#   make check          run the unit tests: no root, under a minute once built; T='Name*' runs a part
#   make test-long      run the unit tests with 20 times as many random cases, then fail every system call
#   make e2e            run the captures end to end, as root; T='Name*' runs a part
#   make browser        run the report page in a headless Chromium; T='Name*' runs a part
#   make fuzz           run each parser under libFuzzer; SECONDS=60 for each, T=name for one
#   make fuzz-coverage  print how much of each parser its fuzzer runs
#   make test-kernels   run a part of the captures on other kernels in QEMU, and write docs/kernels.md
#   make bench          measure capture and conversion, as ratios within one run
#   make format         format the code with clang-format
#   make lint           check formats, English, scripts and code with linters; T=path for a part
#   make emulator       build only build/ovnitrace-emu (convert, info, dump): needs no libbpf
#   make lib            build only libovnitrace: the FTrace primitives for programs
#   make man            write the manual pages; needs lowdown for those of file formats
#   make setup-hooks    check commit messages in this clone
#   make install        install under PREFIX=/usr/local, below DESTDIR=
#   make dist           pack the last commit: build/ovnitrace-VERSION.tar.gz, the same bytes each time
#   make deb            build Debian packages of the last commit, in build/deb/
#   make rpm            build packages for rpm of the last commit, in build/rpm/
#   make static         build build/ovnitrace-static: convert, report, … on any Linux, without libraries
#   make clean          remove build/
#
#   V=1                 print the commands
#   SANITIZE=address,undefined or SANITIZE=thread: build with these sanitizers, in a folder of its own
#   CXX=clang++         compile the C++ with clang, in a folder of its own
#   CROSS_COMPILE=aarch64-linux-gnu-: build for another machine, in a folder of its own
#   OPT='-O0 -g'        compile with other flags; changed flags rebuild what they change

comma := ,

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

Q := $(if $(V),,@)
PREFIX ?= /usr/local
VERSION := 0.3.0

CC := $(CROSS_COMPILE)gcc
CXX := $(CROSS_COMPILE)g++
AR := $(CROSS_COMPILE)ar
STRIP := $(CROSS_COMPILE)strip
# What is built for, as `uname -m` names it.
TARGET := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
BY_CLANG := $(findstring clang,$(CXX))
B := build$(CROSS_COMPILE:%-=/%)$(if $(BY_CLANG),/clang)$(if $(SANITIZE),/$(subst $(comma),-,$(SANITIZE)))$(if $(COVERAGE),/coverage)
CLANG ?= clang
BPFTOOL ?= $(shell command -v bpftool || echo /usr/sbin/bpftool)

OPT ?= -O2 -g1
# For the tests: without optimization they take a third less to compile.
OPT_TESTS ?= -O0 -g1
WARN := -Wall -Wextra -Werror
# Checks of the C library: they need optimisation, and a sanitizer has its own.
FORTIFY := -U_FORTIFY_SOURCE $(if $(SANITIZE)$(filter -O0,$(OPT)),,-D_FORTIFY_SOURCE=2)
HARDEN := -fstack-protector-strong -fPIE $(FORTIFY)
CPPFLAGS += -I. -Iinclude -I$(B) -DOVNITRACE_VERSION='"$(VERSION)"' -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64
CFLAGS += -std=gnu11 $(OPT) $(WARN) $(HARDEN)
CXXFLAGS += -std=c++20 $(OPT) $(WARN) $(HARDEN)
LDFLAGS += -Wl,--as-needed -Wl,-z,now -Wl,-z,relro
ifdef SANITIZE
CFLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer
# GCC's warnings of uninitialised variables are wrong in what a sanitizer has added to.
CXXFLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer $(if $(BY_CLANG),,-Wno-maybe-uninitialized)
LDFLAGS += -fsanitize=$(SANITIZE)
endif
EMULATOR_LIBS := -ldw -lelf -liberty -lfmt -lz -lzstd -lsqlite3 -lpthread
USER_LIBS := -lbpf -lseccomp -lncursesw -lZydis -lgnutls -lmicrohttpd $(EMULATOR_LIBS)

BPF_ARCH := $(patsubst powerpc%,powerpc,$(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(TARGET))))
BPF_CFLAGS := -g -O2 $(WARN) -Wno-unused-parameter -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) -Iinclude -Ibpf

# Objects depend on this file, which changes when the flags do.
FLAGS := $(OPT_TESTS) $(CC) $(CXX) $(CLANG) $(CPPFLAGS) $(CFLAGS) $(CXXFLAGS) $(BPF_CFLAGS)
ifneq ($(filter-out clean help,$(or $(MAKECMDGOALS),all)),)
$(shell mkdir -p $(B))
$(file >$(B)/flags.new,$(FLAGS))
$(shell cmp -s $(B)/flags.new $(B)/flags || cp $(B)/flags.new $(B)/flags)
endif

# Starts a recipe: prints what is made, and makes its folder.
step = @echo "  $(1)"; mkdir -p $(@D)

find = $(sort $(shell find $(1) -type f -name '$(2)' 2>/dev/null))
objects = $(patsubst %,$(B)/obj/%.o,$(1))

# UNITS=1 compiles files together, in units: a build from nothing takes about half as long, but a changed
# file rebuilds its unit. A build folder that began with units stays with them.
UNITS ?= $(wildcard $(B)/units)
together = $(if $(UNITS),$(shell scripts/units.sh -w $(B)/units/$(1) $(2)),$(2))

EMULATOR_SRC := $(filter-out emulator/cli/main.cpp,$(call find,emulator,*.cpp))
USER_SRC := $(filter-out user/main.cpp,$(call find,user,*.cpp))
LIB_SRC := $(call find,user/libovnitrace,*.c)
UNIT_SRC := $(call find,tests/unit,*.cpp) $(call find,tests/unit,*.c)
E2E_SRC := $(call find,tests/e2e,*.cpp)
BROWSER_SRC := $(call find,tests/browser,*.cpp)
EMULATOR_OBJ := $(call objects,$(call together,emulator,$(EMULATOR_SRC)))
USER_OBJ := $(call objects,$(call together,user,$(USER_SRC)))
LINKED := $(patsubst tests/linked/%.cpp,$(B)/tests/programs/%,$(call find,tests/linked,*.cpp))
PROGRAMS := $(patsubst tests/programs/%.cpp,$(B)/tests/programs/%,$(call find,tests/programs,*.cpp)) \
  $(LINKED:%=%_static) $(LINKED:%=%_shared)
PROGRAMS += $(B)/tests/programs/failing_calls.so $(B)/tests/programs/blocks_static $(if $(filter x86_64,$(TARGET)),$(B)/tests/programs/blocks_i386)
PROGRAMS += $(if $(filter aarch64,$(TARGET)),$(B)/tests/programs/call_paths_signed)
BENCHES := $(patsubst tests/bench/%.cpp,$(B)/tests/bench/%,$(call find,tests/bench,*.cpp))
FUZZED := $(call together,fuzzed,$(filter-out emulator/cli/%,$(EMULATOR_SRC)) \
  $(call find,user/probe,*.cpp) user/launch/signals.cpp user/control/ctl_socket.cpp \
  user/control/grammar.cpp user/control/plan.cpp user/stacks/address_names.cpp)
FUZZED_OBJ := $(FUZZED:%=$(B)/fuzz/%.o)
FUZZERS := $(patsubst tests/fuzz/%.cpp,$(B)/tests/fuzz/%,$(call find,tests/fuzz,*.cpp))
SKELETONS := $(patsubst bpf/%.bpf.c,$(B)/%.skel.h,$(call find,bpf,*.bpf.c))

# The library that programs link with; its chunks are compressed where zstd is there to build with.
SO := libovnitrace.so.0
ZSTD := $(shell echo '\#include <zstd.h>' | $(CC) -E -xc - >/dev/null 2>&1 && echo -lzstd)
LIB_LIBS := $(ZSTD) -lpthread

.PHONY: all lib emulator test-programs fuzzers benches demo test test-kernels bench install clean \
  help man dist deb rpm static check test-long e2e browser fuzz fuzz-coverage format lint setup-hooks
all: $(B)/ovnitrace lib
lib: $(B)/libovnitrace.a $(B)/$(SO)
emulator: $(B)/ovnitrace-emu
test-programs: $(PROGRAMS) $(B)/tests/unit_tests $(B)/tests/e2e_tests $(B)/tests/browser_tests
fuzzers: $(FUZZERS)
benches: $(BENCHES)

$(B)/ovnitrace: $(call objects,user/main.cpp) $(USER_OBJ) $(B)/libemulator.a
	@echo "  LINK     $@"
	$(Q)$(CXX) $(LDFLAGS) -pie -o $@ $^ $(USER_LIBS)

$(B)/ovnitrace-emu: $(call objects,emulator/cli/main.cpp) $(B)/libemulator.a
	@echo "  LINK     $@"
	$(Q)$(CXX) $(LDFLAGS) -pie -o $@ $^ $(EMULATOR_LIBS)

$(B)/libemulator.a: $(EMULATOR_OBJ)
$(B)/fuzz/libemulator.a: $(FUZZED_OBJ)
$(B)/fuzz/libnet.a: $(patsubst %,$(B)/fuzz/%.o,$(call find,user/net,*.cpp) user/chunk/small_chunk.cpp)
$(B)/libovnitrace.a: $(call objects,$(LIB_SRC))
$(B)/libemulator.a $(B)/fuzz/libemulator.a $(B)/fuzz/libnet.a $(B)/libovnitrace.a:
	@echo "  AR       $@"
	$(Q)rm -f $@ && $(AR) qcs $@ $^

$(B)/tests/unit_tests: $(call objects,$(UNIT_SRC)) $(USER_OBJ) $(B)/libemulator.a $(B)/libovnitrace.a | $(B)/$(SO)
	$(call step,LINK     $@)
	$(Q)$(CXX) $(LDFLAGS) -pie -o $@ $^ -lgtest_main -lgtest $(USER_LIBS) $(LIB_LIBS)

$(B)/tests/e2e_tests: $(call objects,$(E2E_SRC)) $(B)/libemulator.a
$(B)/tests/browser_tests: $(call objects,$(BROWSER_SRC)) $(B)/libemulator.a
$(B)/tests/e2e_tests $(B)/tests/browser_tests:
	$(call step,LINK     $@)
	$(Q)$(CXX) $(LDFLAGS) -pie -o $@ $^ -lgtest_main -lgtest $(EMULATOR_LIBS)

# Programs that are traced: plain, without any library of ours.
$(B)/tests/programs/%: tests/programs/%.cpp
	$(call step,PROGRAM  $@)
	$(Q)$(CXX) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -MF $@.d -o $@ $< -lpthread

$(B)/tests/programs/own_stacks: CXXFLAGS += -g # names of inlined functions

# One of them also with signed return addresses.
$(B)/tests/programs/call_paths_signed: tests/programs/call_paths.cpp
	$(call step,PROGRAM  $@)
	$(Q)$(CXX) -mbranch-protection=standard $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -MF $@.d -o $@ $< -lpthread

# One of them also static, and for i386 (g++-multilib).
$(B)/tests/programs/blocks_static: MACHINE = -static
$(B)/tests/programs/blocks_i386: MACHINE = -m32
$(B)/tests/programs/blocks_static $(B)/tests/programs/blocks_i386: tests/programs/blocks.cpp
	$(call step,PROGRAM  $@)
	$(Q)$(CXX) $(MACHINE) $(CPPFLAGS) $(filter-out -fsanitize=%,$(CXXFLAGS)) -MMD -MP -MF $@.d -o $@ $< -lpthread

# Loaded into ovnitrace itself: it replaces functions of the C library by their own names.
$(B)/tests/programs/%.so: tests/preload/%.cpp
	$(call step,PROGRAM  $@)
	$(Q)$(CXX) -D_GNU_SOURCE -std=c++20 -O1 -g1 $(WARN) -fPIC -shared -MMD -MP -MF $@.d -o $@ $<

# Those that use libovnitrace, in both its forms; the shared one is found beside the program.
$(B)/tests/programs/%_static: tests/linked/%.cpp $(B)/libovnitrace.a
	$(call step,PROGRAM  $@)
	$(Q)$(CXX) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -MF $@.d -o $@ $< $(B)/libovnitrace.a $(LIB_LIBS)

$(B)/tests/programs/%_shared: tests/linked/%.cpp $(B)/$(SO)
	$(call step,PROGRAM  $@)
	$(Q)$(CXX) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -MF $@.d -o $@ $< $(B)/$(SO) -Wl,-rpath,'$$ORIGIN' -lpthread

$(B)/tests/bench/%: tests/bench/%.cpp $(B)/libemulator.a $(B)/libovnitrace.a
	$(call step,BENCH    $@)
	$(Q)$(CXX) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -MF $@.d -o $@ $(filter-out %.h %.a,$^) $(filter %.a,$^) $(USER_LIBS) $(LIB_LIBS)

$(B)/tests/bench/capture_bench: $(call objects,user/chunk/service_thread.cpp user/ring/ring_buffer.cpp) \
  $(B)/tests/bench/bare_tracers.skel.h

# Every parser under libFuzzer, with the emulator compiled once more for it, without the command line,
# which does not link with this instrumentation.
FUZZ_CXX = $(CLANG)++ $(CPPFLAGS) -std=c++20 -O1 -gline-tables-only -fsanitize=address,undefined -fno-sanitize-recover=undefined \
  $(if $(COVERAGE),-fprofile-instr-generate -fcoverage-mapping)
$(B)/tests/fuzz/%: $(B)/fuzz/tests/fuzz/%.cpp.o $(B)/fuzz/libnet.a $(B)/fuzz/libemulator.a
	$(call step,FUZZER   $@)
	$(Q)$(FUZZ_CXX) -fsanitize=fuzzer -o $@ $^ -lgnutls $(EMULATOR_LIBS)

$(B)/fuzz/%.cpp.o: %.cpp
	$(call step,FUZZ-CXX $<)
	$(Q)$(FUZZ_CXX) -fsanitize=fuzzer-no-link -MMD -MP -c $< -o $@

BPF_HEADERS := $(call find,bpf,*.h) $(call find,include,*.h)
$(B)/%.bpf.o: bpf/%.bpf.c $(BPF_HEADERS)
	$(COMPILE_BPF)
$(B)/tests/bench/%.bpf.o: tests/bench/%.bpf.c $(BPF_HEADERS) tests/bench/bare_record.h
	$(COMPILE_BPF)
define COMPILE_BPF
	$(call step,BPF      $@)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@
endef

$(B)/%.skel.h: $(B)/%.bpf.o
	@echo "  GEN-SKEL $@"
	$(Q)$(BPFTOOL) gen skeleton $< name $(notdir $*)_bpf > $@

# Headers that cost most to compile are compiled once: GoogleTest for the tests, nlohmann-json
# where it is used, and the common ones for all other units.
$(B)/pch/%.h.gch: $(B)/flags
	$(call step,PCH      $@)
	$(Q)printf '%s\n' $(PCH_$*:%='#include <%>') > $(B)/pch/$*.h
	$(Q)$(CXX) $(CPPFLAGS) $(CXXFLAGS) $(if $(BY_CLANG),-Xclang -fno-pch-timestamp) -x c++-header -o $@ $(B)/pch/$*.h
PCH_common := algorithm array fmt/format.h functional map memory optional string unordered_map vector
PCH_json := nlohmann/json.hpp $(PCH_common)
PCH_tests := gtest/gtest.h filesystem fstream set sstream $(PCH_common)
# GCC 12 warns about its own std::string there (its bug 105651). A unit takes a tenth less time
# where GCC collects no garbage of its own.
PCH_FLAGS := -Winvalid-pch $(if $(BY_CLANG),,-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow \
  -Wno-stringop-overread --param ggc-min-heapsize=2000000)
including = $(call objects,$(shell grep -lr '$(1)' emulator user --include=*.cpp))
OBJECTS_tests := $(call objects,$(filter %.cpp,$(UNIT_SRC) $(E2E_SRC) $(BROWSER_SRC)))
OBJECTS_json := $(call including,<nlohmann/json.hpp>) $(filter %.json.cpp.o,$(EMULATOR_OBJ) $(USER_OBJ))
OBJECTS_common := $(filter-out $(OBJECTS_json),$(EMULATOR_OBJ) $(USER_OBJ))
$(B)/pch/tests.h.gch $(OBJECTS_tests): CXXFLAGS := $(filter-out -O% -D_FORTIFY_SOURCE%,$(CXXFLAGS)) $(OPT_TESTS)
define precompiled
$(OBJECTS_$(1)): $(B)/pch/$(1).h.gch
$(OBJECTS_$(1)): PCH = -include $(B)/pch/$(1).h $(PCH_FLAGS)
endef
$(foreach set,tests json common,$(eval $(call precompiled,$(set))))
# What it tests is what the compiler makes of constants.
$(B)/obj/tests/unit/usdt_test.cpp.o: CXXFLAGS += -O2
$(B)/obj/tests/unit/usdt_test.cpp.o: PCH =
# In a unit, GCC takes the anonymous namespaces of .cpp files for those of headers.
$(B)/obj/$(B)/units/%: CXXFLAGS += $(if $(BY_CLANG),,-Wno-subobject-linkage)

# The page of `ovnitrace report` as a string literal.
PAGE := $(B)/report/page.inc
$(PAGE): emulator/report/assemble.sh $(call find,emulator/report/page,*)
	$(call step,PAGE     $@)
	$(Q)$< > $@
$(EMULATOR_OBJ) $(FUZZED_OBJ): | $(PAGE)

$(call objects,user/main.cpp $(filter %.cpp,$(UNIT_SRC))) $(USER_OBJ): | $(SKELETONS)
$(B)/obj/%.cpp.o: %.cpp $(B)/flags
	$(call step,CXX      $<)
	$(Q)$(CXX) $(PCH) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -c $< -o $@

$(call objects,$(LIB_SRC)): CFLAGS += -fPIC -fvisibility=hidden $(if $(ZSTD),-DOVT_ZSTD)
$(B)/obj/%.c.o: %.c $(B)/flags
	$(call step,CC       $<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(B)/$(SO): $(call objects,$(LIB_SRC))
	@echo "  LINK     $@"
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,$(SO) -Wl,-z,defs -o $@ $^ $(LIB_LIBS)
	$(Q)ln -sf $(SO) $(B)/libovnitrace.so

-include $(call find,$(filter-out $(B)/mutate $(B)/deb $(B)/rpm,$(wildcard $(B)/*)),*.d)

# The scripts install what is missing and call make for the rest: this one may have begun before the
# tools were there.
demo test:
	+$(Q)MAKE='$(MAKE)' scripts/$@.sh
bench:
	$(Q)scripts/setup.sh build
	+$(Q)MAKE='$(MAKE)' scripts/build.sh all benches $(B)/tests/programs/pingpong
	$(Q)scripts/bench.sh

help:
	@sed -n '/^# `make help`/,/^$$/s/^# \{0,1\}//p' Makefile

# Two shards of the unit tests on each CPU: some tests wait.
check: $(B)/tests/unit_tests
	$(Q)page=; $(if $(T),,node --test tests/page/*_test.mjs >$(B)/tests/page.log & page=$$!;) cpus=$$(nproc); shards=$$((cpus * 4)); \
	seq 0 $$((shards - 1)) | GTEST_TOTAL_SHARDS=$$shards xargs -P $$((cpus * 2)) -I {} \
	  env GTEST_SHARD_INDEX={} $< --gtest_brief=1 --gtest_filter='$(or $(T),*)'; status=$$?; \
	[ -z "$$page" ] || wait $$page || { cat $(B)/tests/page.log; status=1; }; exit $$status

test-long:
	+$(Q)OVNITRACE_CASES=20 $(MAKE) --no-print-directory check
	+$(Q)OVNITRACE_CASES=20 $(MAKE) --no-print-directory e2e T='*CallFaults*:RandomTrees*'

e2e: all test-programs
	$(Q)$(B)/tests/e2e_tests --gtest_filter='$(or $(T),*)'

browser: $(B)/tests/browser_tests
	$(Q)$< --gtest_filter='$(or $(T),*)'

SECONDS ?= 60
fuzz:
	+$(Q)MAKE='$(MAKE)' FUZZ_SECONDS=$(SECONDS) FUZZ_RUNS=-1 scripts/test.sh fuzz $(T)

fuzz-coverage:
	+$(Q)$(MAKE) --no-print-directory COVERAGE=1 fuzzers
	$(Q)scripts/fuzz_coverage.sh $(FUZZERS:$(B)/%=$(B)/coverage/%)

CODE = $(shell git ls-files '*.c' '*.cpp' '*.h')
format:
	$(Q)clang-format -i $(CODE)

lint: | $(SKELETONS) $(PAGE) $(B)/tests/bench/bare_tracers.skel.h
	$(Q)scripts/lint.sh $(T)

setup-hooks:
	$(Q)hooks=$$(git rev-parse --git-path hooks) && mkdir -p "$$hooks" && \
	  ln -sf "$$PWD/scripts/commit_msg.sh" "$$hooks/commit-msg"

test-kernels:
	$(Q)scripts/setup.sh kernels
	+$(Q)MAKE='$(MAKE)' scripts/build.sh all test-programs
	$(Q)CPUS='1 2 8' tests/kernels/run.sh; status=$$?; tests/kernels/table.sh; exit $$status

# Manual pages of section 1 come from the tables behind --help, those of section 5 from docs/.
# A cross build takes them from the native command.
MAN_BY := build/ovnitrace
ifeq ($(CROSS_COMPILE),)
MAN_BY := $(B)/ovnitrace
else
$(MAN_BY):
	+$(Q)$(MAKE) --no-print-directory CROSS_COMPILE= CC=gcc CXX=g++ $@
endif
FORMAT_PAGES := format config models sql perfetto stacks ovni shark
EPOCH = $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md))
man: $(B)/man/made
$(B)/man/made: $(MAN_BY) scripts/doc_man.sh $(FORMAT_PAGES:%=docs/%.md)
	@echo "  MAN      $(@D)"
	$(Q)rm -rf $(@D) && SOURCE_DATE_EPOCH=$(EPOCH) $(MAN_BY) help --man $(@D)
	$(Q)export SOURCE_DATE_EPOCH=$(EPOCH); if command -v lowdown >/dev/null; then for page in $(FORMAT_PAGES); do \
	  scripts/doc_man.sh docs/$$page.md $(VERSION) >$(@D)/ovnitrace-$$page.5 || exit 1; done; \
	  else echo "no lowdown: the manual pages of file formats are left out"; fi
	$(Q)touch $@

HEADERS := ftrace.h ftrace_codes.h ftrace_record.h user_event.h usdt.h
# Debian's packages use lib/MACHINE and vendor-completions.
LIBDIR := lib
ZSH_FUNCTIONS := site-functions
# Quoted, since a prefix may have blanks.
INTO = "$(DESTDIR)$(PREFIX)"
install: $(B)/ovnitrace lib $(B)/man/made
	install -D -s --strip-program=$(STRIP) -m 755 $(B)/ovnitrace $(INTO)/bin/ovnitrace
	install -d $(INTO)/$(LIBDIR)/pkgconfig $(INTO)/include/ovnitrace
	install -m 644 $(HEADERS:%=include/ovnitrace/%) $(INTO)/include/ovnitrace
	install -m 644 $(B)/libovnitrace.a $(B)/$(SO) $(INTO)/$(LIBDIR)
	ln -sf $(SO) $(INTO)/$(LIBDIR)/libovnitrace.so
	printf '%s\n' 'prefix=$(PREFIX)' 'Name: ovnitrace' 'Version: $(VERSION)' \
	  'Description: FTrace primitives, and user events in the traces of ovnitrace' \
	  'Cflags: -I"$${prefix}/include"' 'Libs: -L"$${prefix}/$(LIBDIR)" -lovnitrace' \
	  'Libs.private: $(LIB_LIBS)' > $(INTO)/$(LIBDIR)/pkgconfig/ovnitrace.pc
	install -d $(INTO)/share/man/man1 $(INTO)/share/man/man5 $(INTO)/share/doc/ovnitrace/docs
	install -m 644 $(B)/man/*.1 $(INTO)/share/man/man1
	for page in $(B)/man/*.5; do [ ! -e $$page ] || install -m 644 $$page $(INTO)/share/man/man5; done
	install -D -m 644 packaging/completion/ovnitrace.bash $(INTO)/share/bash-completion/completions/ovnitrace
	install -D -m 644 packaging/completion/_ovnitrace $(INTO)/share/zsh/$(ZSH_FUNCTIONS)/_ovnitrace
	install -D -m 644 packaging/completion/ovnitrace.fish $(INTO)/share/fish/vendor_completions.d/ovnitrace.fish
	install -d $(INTO)/lib/systemd/system
	sed 's|"/usr/bin/|"$(PREFIX)/bin/|' packaging/systemd/ovnitrace.service >$(INTO)/lib/systemd/system/ovnitrace.service
	install -m 644 README.md CHANGELOG.md SECURITY.md LICENSE $(INTO)/share/doc/ovnitrace
	install -m 644 docs/* $(INTO)/share/doc/ovnitrace/docs
	$(Q)PATH=$$PATH:/usr/sbin:/sbin; [ -n "$(DESTDIR)" ] || { ldconfig 2>/dev/null; ldconfig -p | \
	  grep -qF ' $(PREFIX)/lib/$(SO)'; } || echo "The dynamic loader does not look into" \
	  "$(PREFIX)/lib: link programs with '-Wl,-rpath,$(PREFIX)/lib', or run them with" \
	  "LD_LIBRARY_PATH='$(PREFIX)/lib'"

# What git has, with the date of the commit, and no name or date of the packing.
DIST := ovnitrace-$(VERSION)
dist:
	$(Q)mkdir -p $(B)
	$(Q)git -c tar.umask=0002 archive --format=tar --prefix=$(DIST)/ -o $(B)/$(DIST).tar HEAD
	$(Q)gzip -n -9 -f $(B)/$(DIST).tar
	@sha256sum $(B)/$(DIST).tar.gz

# Commands that print the maintainer of a package, who made the last commit: as it is, and for sed.
MAINTAINER = git log -1 --format='%an <%ae>'
MAINTAINER_SED = $(MAINTAINER) | sed 's/[\\/&]/\\&/g'

# The changelog has one entry. CROSS_COMPILE builds packages for another machine.
DEB := $(B)/deb/$(DIST)
deb: dist
	$(Q)rm -rf $(B)/deb && mkdir -p $(B)/deb
	$(Q)cp $(B)/$(DIST).tar.gz $(B)/deb/ovnitrace_$(VERSION).orig.tar.gz
	$(Q)tar -xf $(B)/$(DIST).tar.gz -C $(B)/deb && cp -R $(DEB)/packaging/debian $(DEB)/debian
	$(Q)sed -i -e "s/@BUILD_DEPENDS@/$$(packaging/build_depends.sh)/" \
	  -e "s/@MAINTAINER@/$$($(MAINTAINER_SED))/" $(DEB)/debian/control
	$(Q)sed -n '/^Redistribution/,/^---/s/^/ /p' LICENSE | sed '$$d; s/^ *$$/ ./' | \
	  sed -i -e '/@LICENSE@/{r /dev/stdin' -e 'd}' $(DEB)/debian/copyright
	$(Q)printf '%s\n' 'ovnitrace ($(VERSION)-0local1) unstable; urgency=medium' '' \
	  '  * Packaged from the source; CHANGELOG.md says what is new.' '' \
	  " -- $$($(MAINTAINER))  $$(date -uRd @$(EPOCH))" >$(DEB)/debian/changelog
	$(Q)cd $(DEB) && dpkg-buildpackage -us -uc -b \
	  $(if $(CROSS_COMPILE),-Pcross -a$$(dpkg-architecture -t$(CROSS_COMPILE:%-=%) -qDEB_HOST_ARCH))
	@ls $(B)/deb/*.deb

# Outside of distributions with rpm, its database does not know what is installed.
rpm: dist
	$(Q)rm -rf $(B)/rpm && mkdir -p $(B)/rpm
	$(Q)sed -e 's/@VERSION@/$(VERSION)/' -e "s/@MAINTAINER@/$$($(MAINTAINER_SED))/" \
	  -e "s/@DATE@/$$(LC_ALL=C date -ud @$(EPOCH) '+%a %b %d %Y')/" packaging/rpm/ovnitrace.spec >$(B)/rpm/ovnitrace.spec
	$(Q)rpmbuild -bb $$(rpm -q rpm >/dev/null || echo --nodeps) --define '_topdir $(CURDIR)/$(B)/rpm' \
	  --define '_sourcedir $(CURDIR)/$(B)' --define '_rpmdir $(CURDIR)/$(B)/rpm' $(B)/rpm/ovnitrace.spec
	@ls $(B)/rpm/*/*.rpm

static: $(B)/ovnitrace-static
$(B)/ovnitrace-static: $(call objects,emulator/cli/main.cpp packaging/static_fmt.cpp) $(B)/libemulator.a
	@echo "  LINK     $@"
	$(Q)$(CXX) $(LDFLAGS) -static -o $@ $^ $(filter-out -lfmt,$(EMULATOR_LIBS)) -llzma -lbz2 -lm
	$(Q)$(STRIP) $@

clean:
	rm -rf $(B)
