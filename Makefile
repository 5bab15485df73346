# SPDX-License-Identifier: BSD-2-Clause
# ovnitrace: what the Linux scheduler did to your threads, on a Paraver timeline.
#
#   make           builds build/ovnitrace
#   make demo      installs what is missing, builds, traces a sample program
#   make test      installs what is missing, builds, runs every test
#   make test-kernels  runs a part of them on other kernels, in QEMU (not part of `make test`)
#   make bench     measures capture and conversion, as ratios within one run
#   make emulator  builds only build/ovnitrace-emu: convert, info, dump; no libbpf needed
#   make lib       builds only build/libovnitrace.a and .so: the FTrace primitives for programs
#   make install   PREFIX=/usr/local DESTDIR=
#
# Sources are found by folder: a new file needs no change here.

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

B := build
PREFIX ?= /usr/local
VERSION := 0.1.0

CC := gcc
CXX := g++
CLANG ?= clang
BPFTOOL ?= $(shell command -v bpftool || echo /usr/sbin/bpftool)

OPT ?= -O2 -g
WARN := -Wall -Wextra -Werror
CPPFLAGS += -I. -Iinclude -I$(B) -DOVNITRACE_VERSION='"$(VERSION)"' -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64
CFLAGS += -std=gnu11 $(OPT) $(WARN) -fstack-protector-strong
CXXFLAGS += -std=c++20 $(OPT) $(WARN) -fstack-protector-strong
LDFLAGS += -Wl,--as-needed -Wl,-z,now
EMULATOR_LIBS := -lfmt -lz -lzstd -lpthread
USER_LIBS := -lbpf -lelf -lgnutls $(EMULATOR_LIBS)

BPF_ARCH := $(shell uname -m | sed -e s/x86_64/x86/ -e s/aarch64/arm64/ -e s/ppc64le/powerpc/)
BPF_CFLAGS := -g -O2 $(WARN) -Wno-unused-parameter -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) -Iinclude -Ibpf

find = $(sort $(shell find $(1) -name '$(2)' 2>/dev/null))
objects = $(patsubst %,$(B)/obj/%.o,$(1))

EMULATOR_SRC := $(filter-out emulator/cli/main.cpp,$(call find,emulator,*.cpp))
USER_SRC := $(filter-out user/main.cpp,$(call find,user,*.cpp))
LIB_SRC := $(call find,user/lib,*.c)
UNIT_SRC := $(call find,tests/unit,*.cpp) $(call find,tests/unit,*.c)
E2E_SRC := $(call find,tests/e2e,*.cpp)
LINKED := $(patsubst tests/linked/%.cpp,$(B)/tests/programs/%,$(call find,tests/linked,*.cpp))
PROGRAMS := $(patsubst tests/programs/%.cpp,$(B)/tests/programs/%,$(call find,tests/programs,*.cpp)) \
  $(LINKED:%=%_static) $(LINKED:%=%_shared)
BENCHES := $(patsubst tests/bench/%.cpp,$(B)/tests/bench/%,$(call find,tests/bench,*.cpp))
FUZZED := $(EMULATOR_SRC) $(call find,user/probe,*.cpp)
FUZZERS := $(patsubst tests/fuzz/%.cpp,$(B)/tests/fuzz/%,$(call find,tests/fuzz,*.cpp))
SKELETONS := $(patsubst bpf/%.bpf.c,$(B)/%.skel.h,$(call find,bpf,*.bpf.c))

# The library that programs link with; its chunks are compressed where zstd is there to build with.
SO := libovnitrace.so.0
ZSTD := $(shell echo '\#include <zstd.h>' | $(CC) -E -xc - >/dev/null 2>&1 && echo -lzstd)
LIB_LIBS := $(ZSTD) -lpthread

.PHONY: all lib emulator test-programs fuzzers benches demo test test-kernels bench install clean
all: $(B)/ovnitrace lib
lib: $(B)/libovnitrace.a $(B)/$(SO)
emulator: $(B)/ovnitrace-emu
test-programs: $(PROGRAMS) $(B)/tests/unit_tests $(B)/tests/e2e_tests
fuzzers: $(FUZZERS)
benches: $(BENCHES)

$(B)/ovnitrace: $(call objects,user/main.cpp $(USER_SRC)) $(B)/libemulator.a
	@echo "  LINK     $@"
	@$(CXX) $(LDFLAGS) -o $@ $^ $(USER_LIBS)

$(B)/ovnitrace-emu: $(call objects,emulator/cli/main.cpp) $(B)/libemulator.a
	@echo "  LINK     $@"
	@$(CXX) $(LDFLAGS) -o $@ $^ $(EMULATOR_LIBS)

$(B)/libemulator.a: $(call objects,$(EMULATOR_SRC))
$(B)/fuzz/libemulator.a: $(patsubst %,$(B)/fuzz/%.o,$(FUZZED))
$(B)/fuzz/libnet.a: $(patsubst %,$(B)/fuzz/%.o,$(call find,user/net,*.cpp) user/chunk/small_chunk.cpp)
$(B)/libovnitrace.a: $(call objects,$(LIB_SRC))
$(B)/libemulator.a $(B)/fuzz/libemulator.a $(B)/fuzz/libnet.a $(B)/libovnitrace.a:
	@echo "  AR       $@"
	@rm -f $@ && $(AR) qcs $@ $^

$(B)/tests/unit_tests: $(call objects,$(UNIT_SRC) $(USER_SRC)) $(B)/libemulator.a $(B)/libovnitrace.a | $(B)/$(SO)
	@echo "  LINK     $@"
	@mkdir -p $(@D)
	@$(CXX) $(LDFLAGS) -o $@ $^ -lgtest_main -lgtest $(USER_LIBS) $(LIB_LIBS)

$(B)/tests/e2e_tests: $(call objects,$(E2E_SRC)) $(B)/libemulator.a
	@echo "  LINK     $@"
	@mkdir -p $(@D)
	@$(CXX) $(LDFLAGS) -o $@ $^ -lgtest_main -lgtest $(EMULATOR_LIBS)

# Programs that are traced: plain, without any library of ours.
$(B)/tests/programs/%: tests/programs/%.cpp
	@echo "  PROGRAM  $@"
	@mkdir -p $(@D)
	@$(CXX) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -MF $@.d -o $@ $< -lpthread

# Those that use libovnitrace, in both its forms; the shared one is found beside the program.
$(B)/tests/programs/%_static: tests/linked/%.cpp $(B)/libovnitrace.a
	@echo "  PROGRAM  $@"
	@mkdir -p $(@D)
	@$(CXX) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -MF $@.d -o $@ $< $(B)/libovnitrace.a $(LIB_LIBS)

$(B)/tests/programs/%_shared: tests/linked/%.cpp $(B)/$(SO)
	@echo "  PROGRAM  $@"
	@mkdir -p $(@D)
	@$(CXX) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -MF $@.d -o $@ $< $(B)/$(SO) -Wl,-rpath,'$$ORIGIN' -lpthread

$(B)/tests/bench/%: tests/bench/%.cpp $(B)/libemulator.a $(B)/libovnitrace.a
	@echo "  BENCH    $@"
	@mkdir -p $(@D)
	@$(CXX) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -MF $@.d -o $@ $(filter-out %.h,$^) $(USER_LIBS) $(LIB_LIBS)

$(B)/tests/bench/capture_bench: $(call objects,user/record/service_thread.cpp user/ring/ring_buffer.cpp) \
  $(B)/tests/bench/bare_ring.skel.h

# Every parser under libFuzzer, with the emulator compiled once more for it. An archive, of which each
# links what it uses: the command line does not link with this instrumentation, and is not used.
FUZZ_CXX = $(CLANG)++ $(CPPFLAGS) -std=c++20 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined
$(B)/tests/fuzz/%: $(B)/fuzz/tests/fuzz/%.cpp.o $(B)/fuzz/libnet.a $(B)/fuzz/libemulator.a
	@echo "  FUZZER   $@"
	@mkdir -p $(@D)
	@$(FUZZ_CXX) -fsanitize=fuzzer -o $@ $^ -lelf -lgnutls $(EMULATOR_LIBS)

$(B)/fuzz/%.cpp.o: %.cpp
	@echo "  FUZZ-CXX $<"
	@mkdir -p $(@D)
	@$(FUZZ_CXX) -fsanitize=fuzzer-no-link -MMD -MP -c $< -o $@

COMPILE_BPF = echo "  BPF      $@"; mkdir -p $(@D); $(CLANG) $(BPF_CFLAGS) -c $< -o $@
$(B)/%.bpf.o: bpf/%.bpf.c $(call find,bpf,*.h) $(call find,include,*.h)
	@$(COMPILE_BPF)

$(B)/tests/bench/%.bpf.o: tests/bench/%.bpf.c bpf/ktypes.h
	@$(COMPILE_BPF)

$(B)/%.skel.h: $(B)/%.bpf.o
	@echo "  GEN-SKEL $@"
	@$(BPFTOOL) gen skeleton $< name $(notdir $*)_bpf > $@

$(call objects,user/main.cpp $(USER_SRC)): | $(SKELETONS)
$(B)/obj/%.cpp.o: %.cpp
	@echo "  CXX      $<"
	@mkdir -p $(@D)
	@$(CXX) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -c $< -o $@

$(call objects,$(LIB_SRC)): CFLAGS += -fPIC -fvisibility=hidden $(if $(ZSTD),-DOVT_ZSTD)
$(B)/obj/%.c.o: %.c
	@echo "  CC       $<"
	@mkdir -p $(@D)
	@$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(B)/$(SO): $(call objects,$(LIB_SRC))
	@echo "  LINK     $@"
	@$(CC) $(LDFLAGS) -shared -Wl,-soname,$(SO) -Wl,-z,defs -o $@ $^ $(LIB_LIBS)
	@ln -sf $(SO) $(B)/libovnitrace.so

-include $(call find,$(B),*.d)

# Each in a make of its own: this one may have begun before the tools were there.
demo: NEEDS = $(B)/tests/programs/sample
test: NEEDS = test-programs fuzzers
bench: NEEDS = $(PROGRAMS) benches
demo bench: SETUP = build
demo test bench:
	@scripts/setup.sh $(SETUP)
	@$(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc)) all $(NEEDS)
	@scripts/$@.sh

test-kernels:
	@scripts/setup.sh kernels
	@$(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc)) all test-programs
	@tests/kernels/run.sh

HEADERS := ftrace.h ftrace_codes.h ftrace_record.h user_event.h usdt.h
install: $(B)/ovnitrace lib
	install -D -s -m 755 $(B)/ovnitrace $(DESTDIR)$(PREFIX)/bin/ovnitrace
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include/ovnitrace
	install -m 644 $(HEADERS:%=include/ovnitrace/%) $(DESTDIR)$(PREFIX)/include/ovnitrace
	install -m 644 $(B)/libovnitrace.a $(B)/$(SO) $(DESTDIR)$(PREFIX)/lib
	ln -sf $(SO) $(DESTDIR)$(PREFIX)/lib/libovnitrace.so
	printf '%s\n' 'prefix=$(PREFIX)' 'Name: ovnitrace' 'Version: $(VERSION)' \
	  'Description: FTrace primitives, and user events in the traces of ovnitrace' \
	  'Cflags: -I$${prefix}/include' 'Libs: -L$${prefix}/lib -lovnitrace' \
	  'Libs.private: $(LIB_LIBS)' > $(DESTDIR)$(PREFIX)/lib/pkgconfig/ovnitrace.pc
	@PATH=$$PATH:/usr/sbin:/sbin; [ -n "$(DESTDIR)" ] || { ldconfig 2>/dev/null; ldconfig -p | \
	  grep -qF ' $(PREFIX)/lib/$(SO)'; } || echo "The dynamic loader does not look into" \
	  "$(PREFIX)/lib: link programs with -Wl,-rpath,$(PREFIX)/lib, or run them with" \
	  "LD_LIBRARY_PATH=$(PREFIX)/lib"

clean:
	rm -rf $(B)
