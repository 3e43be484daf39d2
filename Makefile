# SPDX-License-Identifier: GPL-2.0-or-later
# make            build/tracer
# make demo       install what is missing, build, find the leak of an example
# make check      install what is missing, build, run every test
# make test T=NAME   build and run one test of any kind; T=NAME:CASE: one case of it (tests/one)
# make quick      lint, and the unit tests that depend on what differs from BASE (main) (tests/quick)
# make unit       unit tests only (no root)
# make live       tests on the real kernel (root)
# make fuzz       each fuzz target for FUZZ_SECONDS
# make check-kernels   live tests under other kernels, in emulated machines; KERNELS="5.10 newest"; QUICK=1: fewer;
#                 ARCH=arm64: of that architecture
# make arm64      build/arm64/tracer and the programs of its tests, on another machine than such a one (Debian)
# make check-deploy    what is in deploy/, with systemd, Podman, Docker, containerd and Kubernetes, in emulated machines (root);
#                 DEPLOY="trixie": with that release of Debian only
# make check-survival  programs that switch stacks, RUNS (1000) times each, under this kernel ("native") and others (root)
# make check-motion    what leaks calls lost of programs at work, over 100 looks at each (root); RUNS=20, PARTS="busy redis"
# make check-programs  what the tracer counts of programs of Debian against a library that counts in them (root)
# make check-truths    lost blocks by other tools' verdicts, and in an extension of Ruby (root; sources of Debian are fetched)
# make check-versions  interpreters, C libraries and allocators of other releases, in roots that debootstrap makes (root)
# make bench      what tracing costs, as ratios in one run (root); QUICK=1: fewer rounds
# make check-verdicts  verdicts of live programs that know which of their blocks leak: precision, recall (root); PROGRAMS="leak-1 ttl": of those
# make check-budget    what --budget finds and costs; PARTS="corpus cost dear", ROUNDS=3, SOAK=1800: then a soak of so many seconds (root)
# make lint       clang-format, shellcheck, floors of the architecture
# make static     build/tracer-static, which needs no library
# make install    into DESTDIR and PREFIX
# make deb        build/tracer_VERSION_ARCHITECTURE.deb, a package for Debian and Ubuntu

VERSION := 0.1.0
BUILD := build
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 3
SUITES ?= lint unit fuzz live
JOBS ?= $(shell nproc)
# V=1 shows the commands.
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s %s\n' $(1) $(2))

CC ?= gcc
CLANG ?= clang
# Ubuntu's bpftool refuses to work for a kernel that is not Ubuntu's; the real ones are behind it.
BPFTOOL ?= $(firstword $(shell for tool in bpftool /usr/sbin/bpftool /usr/lib/linux-tools*/*/bpftool \
	/usr/lib/linux-tools-*/bpftool; do $$tool version >/dev/null 2>&1 && echo $$tool; done) bpftool)
PKGS := libbpf libelf libdw capstone zlib liblzma jansson sqlite3 libprotobuf-c libmicrohttpd ncursesw
NATIVE := $(shell uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')
ARCH := $(NATIVE)

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wwrite-strings -Wundef -Wvla -Wformat=2 -Wno-missing-field-initializers
CPPFLAGS_ALL := -D_GNU_SOURCE -DTRACER_VERSION='"$(VERSION)"' -Iuser -Iinclude -I$(BUILD) \
	$(shell pkg-config --cflags $(PKGS) 2>/dev/null)
CFLAGS ?= -O2 -g
# What makes a bug hard to use, as far as the compiler has it: not all do for every architecture.
has_flag = $(if $(shell $(CC) -Werror $(1) -c -x c -o /dev/null /dev/null 2>/dev/null && echo yes),$(1))
HARDEN := -fPIE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 \
	$(call has_flag,-fstack-clash-protection) $(call has_flag,-fcf-protection) \
	$(call has_flag,-ftrivial-auto-var-init=zero)
HARDEN_LINK := -Wl,-z,relro,-z,now
CFLAGS_ALL := -std=gnu11 $(WARNINGS) $(HARDEN) $(CFLAGS)
LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null) -liberty -lpthread -lm

# Tests themselves are not optimized: most of the time of their build would go into that.
SANITIZE := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all

SOURCES := $(sort $(wildcard user/*/*.c))
# What protoc-c makes of descriptions of messages.
MESSAGES := $(patsubst user/render/%.proto,%.pb-c,$(wildcard user/render/*.proto))
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o) $(MESSAGES:%=$(BUILD)/%.o)
# What tests link: everything but main() and the folder that needs the kernel. What the session calls there is for a test
# to define (tests/unit/fake_kernel.h).
PURE := $(filter-out user/command/main.c user/kernel/%,$(SOURCES))
PURE_SANITIZED := $(PURE:%.c=$(BUILD)/asan/%.o) $(MESSAGES:%=$(BUILD)/asan/%.o)
PURE_FUZZED := $(PURE:%.c=$(BUILD)/fuzz/%.o) $(MESSAGES:%=$(BUILD)/fuzz/%.o)

UNIT_TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/unit/test_*.c tests/host_bpf/test_*.c)))
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))


.PHONY: all arm64 static tests check check-budget check-motion check-kernels check-deploy check-programs check-survival check-truths check-verdicts check-versions demo unit test quick live fuzz lint bench install deb clean dependencies targets
all: $(BUILD)/tracer

$(BUILD)/tracer: $(OBJECTS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -pie $(HARDEN_LINK) $(LDFLAGS) -o $@ $^ $(LIBS)

# The linker warns that libdebuginfod, which is loaded only when needed, needs the C library that was linked.
LIBS_STATIC := $(shell pkg-config --static --libs $(filter-out libmicrohttpd,$(PKGS)) 2>/dev/null) \
	-lmicrohttpd -liberty -lpthread -lm
static: $(BUILD)/tracer-static
$(BUILD)/tracer-static: $(OBJECTS) $(BUILD)/no_tls.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -static-pie $(HARDEN_LINK) $(LDFLAGS) -s -o $@ $^ $(LIBS_STATIC) 2>$@.log || { cat $@.log >&2; exit 1; }

# TLS of libmicrohttpd is not used, and takes libraries of which there are no static ones: its functions fail.
$(BUILD)/no_tls.c:
	@mkdir -p $(@D)
	$(Q)$$($(CC) -print-prog-name=nm) $$($(CC) -print-file-name=libmicrohttpd.a) 2>/dev/null | \
		sed -n 's/^ *U \(gnutls_[a-z0-9_]*\|gcry_[a-z0-9_]*\)$$/\1/p' | sort -u | \
		sed 's/.*/int &(void);\nint &(void)\n{\n\treturn -1;\n}/' >$@.tmp
	@mv $@.tmp $@

$(BUILD)/no_tls.o: $(BUILD)/no_tls.c
	$(Q)$(CC) -std=gnu11 $(HARDEN) $(CFLAGS) -w -c -o $@ $<

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(filter $(BUILD)/user/kernel/%,$(OBJECTS)): $(BUILD)/tracer.skel.h $(BUILD)/kernel_memory.skel.h $(BUILD)/registers.skel.h

PROTOC_C ?= protoc-c
$(BUILD)/%.pb-c.c $(BUILD)/%.pb-c.h: user/render/%.proto
	@mkdir -p $(@D)
	$(call say,PROTOC,$@)
	$(Q)$(PROTOC_C) --proto_path=user/render --c_out=$(BUILD) $<

.SECONDARY: $(MESSAGES:%=$(BUILD)/%.c)

$(BUILD)/%.pb-c.o: $(BUILD)/%.pb-c.c
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(foreach dir,$(BUILD) $(BUILD)/asan $(BUILD)/fuzz,$(dir)/user/render/pprof_writer.o): | $(BUILD)/pprof.pb-c.h
$(foreach dir,$(BUILD) $(BUILD)/asan $(BUILD)/fuzz,$(patsubst %,$(dir)/user/render/%.o,otlp otlp_dictionary)): | $(BUILD)/otlp.pb-c.h

# The page of the HTML format is one file, with the hashes of its scripts.
PAGE := $(wildcard user/render/html/*)
$(BUILD)/html_page.h: scripts/embed-page $(PAGE)
	@mkdir -p $(@D)
	$(call say,PAGE,$@)
	$(Q)scripts/embed-page user/render/html > $@.tmp
	@mv $@.tmp $@

$(BUILD)/user/render/html.o $(BUILD)/asan/user/render/html.o $(BUILD)/fuzz/user/render/html.o: $(BUILD)/html_page.h

# What the scripts of the shells have that does not follow from the tables.
COMPLETIONS := $(wildcard user/command/completion/*)
$(BUILD)/completion_texts.h: scripts/embed-texts $(COMPLETIONS)
	@mkdir -p $(@D)
	$(Q)scripts/embed-texts $(COMPLETIONS) > $@.tmp
	@mv $@.tmp $@

$(foreach dir,$(BUILD) $(BUILD)/asan $(BUILD)/fuzz,$(patsubst %,$(dir)/user/command/completion_%.o,bash fish zsh)): \
	| $(BUILD)/completion_texts.h

$(BUILD)/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h include/*.h)
	@mkdir -p $(@D)
	@pkg-config --atleast-version=1.0 libbpf || { echo "tracer is built with libbpf 1.0 or later (Debian 12," \
		"Ubuntu 24.04); here is $$(pkg-config --modversion libbpf 2>&1)" >&2; exit 1; }
	$(call say,CLANG,$@)
	$(Q)$(CLANG) -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Werror -D__TARGET_ARCH_$(ARCH) -Iinclude -Ibpf \
		-c -o $@.tmp $<
	$(call say,BPF,$@)
	$(Q)$(BPFTOOL) gen object $@ $@.tmp
	@rm -f $@.tmp

$(BUILD)/%.skel.h: $(BUILD)/%.bpf.o
	$(call say,BPF,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@.tmp
	@mv $@.tmp $@

.PRECIOUS: $(BUILD)/%.bpf.o $(BUILD)/%.skel.h

# Tests

COMPILE_SANITIZED = $(CC) $(CPPFLAGS_ALL) -std=gnu11 $(WARNINGS) $(SANITIZE) -fPIC -MMD -MP -c -o $@ $<

$(BUILD)/asan/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(COMPILE_SANITIZED)

$(BUILD)/asan/%.pb-c.o: $(BUILD)/%.pb-c.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(COMPILE_SANITIZED)

# Unit tests share this library, so an edit of it links it again, and no test. A function that a test defines replaces the
# library's, also in calls from within the library: tests export all their functions. Functions of user/kernel that the
# library calls are looked up at the call, and are for a test to define.
LIBPURE := $(BUILD)/asan/libpure.so
$(LIBPURE): $(PURE_SANITIZED)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared $(SANITIZE) -o $@ $^ $(LIBS)

$(BUILD)/tests/unit/%.o: tests/unit/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(COMPILE_SANITIZED) -O0 -Itests

$(BUILD)/tests/host_bpf/%.o: tests/host_bpf/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(COMPILE_SANITIZED) -O0 -Itests/host_bpf -Ibpf

$(UNIT_TESTS): %: %.o $(BUILD)/tests/unit/program.o | $(LIBPURE)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANITIZE) -Wl,--export-dynamic,--allow-shlib-undefined,-z,lazy \
		-Wl,-rpath,$(CURDIR)/$(BUILD)/asan -o $@ $^ $(LIBPURE) -lcmocka $(LIBS)

# The parsers are compiled again with clang, so that the fuzzer sees their branches.
FUZZ_FLAGS := -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
$(BUILD)/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CLANG,$@)
	$(Q)$(CLANG) $(CPPFLAGS_ALL) -std=gnu11 -g -O1 -fsanitize=fuzzer-no-link,address,undefined \
		-fno-sanitize-recover=all -MMD -MP -c -o $@ $<
$(BUILD)/fuzz/%.pb-c.o: $(BUILD)/%.pb-c.c
	@mkdir -p $(@D)
	$(call say,CLANG,$@)
	$(Q)$(CLANG) $(CPPFLAGS_ALL) -std=gnu11 -g -O1 -fsanitize=fuzzer-no-link,address,undefined \
		-fno-sanitize-recover=all -MMD -MP -c -o $@ $<
$(BUILD)/fuzz/libpure.a: $(PURE_FUZZED)
	@rm -f $@
	$(Q)ar rcs $@ $^
$(BUILD)/tests/fuzz/%: tests/fuzz/%.c $(BUILD)/fuzz/libpure.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CLANG) $(CPPFLAGS_ALL) $(FUZZ_FLAGS) -MMD -MP -o $@ $< $(BUILD)/fuzz/libpure.a $(LIBS)

unit: $(UNIT_TESTS)
	tests/run unit

test:
	@tests/one $(T)

quick:
	@tests/quick $(BASE)

targets:
	$(MAKE) -C tests/targets BUILD=$(CURDIR)/$(BUILD)/targets

# A program of the live tests that uses the session itself.
$(BUILD)/tests/live/%: tests/live/%.c $(filter-out $(BUILD)/user/command/main.o,$(OBJECTS))
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -pie $(HARDEN_LINK) $(LDFLAGS) -o $@ $< \
		$(filter %.o,$^) $(LIBS)

LIVE_PROGRAMS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/live/*.c))
live: $(BUILD)/tracer $(LIVE_PROGRAMS) targets
	tests/run live

fuzz: $(FUZZ_TARGETS)
	FUZZ_SECONDS=$(FUZZ_SECONDS) tests/run fuzz

lint:
	tests/run lint

dependencies:
	scripts/install-dependencies
	scripts/install-readers $(BUILD)/readers

# Everything that tests need; runs none.
# The static program is tested where it can be made: not everywhere are there all the libraries for it, and those of
# elfutils 0.192, which Debian 13 has, lack functions.
$(BUILD)/.static-tried: $(OBJECTS)
	@$(MAKE) --no-print-directory static 2>/dev/null || echo "make: $(BUILD)/tracer-static cannot be made here, its" \
		"tests are skipped; $(BUILD)/tracer-static.log says why"
	@touch $@

tests: all $(BUILD)/.static-tried $(LIVE_PROGRAMS) $(UNIT_TESTS) $(FUZZ_TARGETS) targets

check: dependencies
	@$(MAKE) --no-print-directory -j$(JOBS) tests
	FUZZ_SECONDS=$(FUZZ_SECONDS) tests/run $(SUITES)

# What is not there for another architecture makes its tests skipped.
check-kernels: $(if $(filter $(NATIVE),$(ARCH)),all targets,dependencies-$(ARCH))
	KERNELS="$(or $(KERNELS),5.10 6.1 6.12 6.16 newest)" QUICK=$(QUICK) ARCH=$(ARCH) tests/run kernels

check-survival: all targets
	KERNELS="$(or $(KERNELS),native 5.10 6.1 6.12 6.16 newest all:6.12 all:newest)" RUNS=$(or $(RUNS),1000) tests/run survival

check-deploy: dependencies-deploy all $(BUILD)/.static-tried targets
	DEPLOY="$(or $(DEPLOY),bookworm trixie)" tests/run deploy

# Where the packages cannot be installed, the tests of those programs are skipped.
check-programs: dependencies-programs all targets
	$(Q)$(MAKE) -s -C tests/programs BUILD=$(CURDIR)/$(BUILD)/programs
	tests/run programs

# Roots that cannot be made are skipped: DEBIAN_MIRROR and UBUNTU_MIRROR say where from (tests/versions/roots.py).
check-versions: all targets $(BUILD)/tests/live/ruby_objects $(BUILD)/tests/live/census
	tests/run versions

# Sources that cannot be had make their tests skipped.
check-truths: dependencies-truths all targets
	tests/run truths

dependencies-%:
	@scripts/install-dependencies --$* || echo "make: going on with what is installed"

arm64: dependencies-arm64
	tests/kernels/cross.py arm64

demo:
	scripts/install-dependencies --build
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@$(MAKE) --no-print-directory -C tests/targets BUILD=$(CURDIR)/$(BUILD)/targets $(CURDIR)/$(BUILD)/targets/leaky
	scripts/demo

# Fails for a false LEAK, and for a leak that is not named in time: of programs that run for 20 s each, some side by side.
check-verdicts: $(BUILD)/tracer
	$(Q)$(MAKE) -s -C tests/verdicts BUILD=$(CURDIR)/$(BUILD)/verdicts
	tests/verdicts/run $(PROGRAMS)

# What --budget finds, what it costs, and how it does for SOAK seconds: figures, which assert nothing. PARTS: some of it (tests/budget/run).
check-budget: $(BUILD)/tracer
	$(Q)$(MAKE) -s -C tests/budget BUILD=$(CURDIR)/$(BUILD)/budget
	tests/budget/run $(if $(ROUNDS),--rounds $(ROUNDS)) $(PARTS)
	$(if $(SOAK),tests/budget/run --seconds $(SOAK) soak)

# Fails where a look at a program at work calls something lost that is not: RUNS (100) looks at each. PARTS: some of them (tests/motion/run).
check-motion: $(BUILD)/tracer
	$(Q)$(MAKE) -s -C tests/targets BUILD=$(CURDIR)/$(BUILD)/targets $(CURDIR)/$(BUILD)/targets/leak_motion
	tests/motion/run $(if $(RUNS),--runs $(RUNS)) $(PARTS)

bench: $(BUILD)/tracer $(BUILD)/tests/live/parts
	$(Q)$(MAKE) -s -C tests/bench BUILD=$(CURDIR)/$(BUILD)/bench
	tests/bench/run $(if $(QUICK),--quick)

# Where zsh looks; Debian's does elsewhere for files of packages.
ZSH_FUNCTIONS ?= site-functions
define install_completion
	install -d $(DESTDIR)$(PREFIX)/share/$(dir $(2))
	$(BUILD)/tracer --completion $(1) >$(DESTDIR)$(PREFIX)/share/$(2)
	chmod 644 $(DESTDIR)$(PREFIX)/share/$(2)
endef

install: $(BUILD)/tracer
	install -D -m 755 $(BUILD)/tracer $(DESTDIR)$(PREFIX)/bin/tracer
	install -D -m 644 docs/tracer.8 $(DESTDIR)$(PREFIX)/share/man/man8/tracer.8
	$(call install_completion,bash,bash-completion/completions/tracer)
	$(call install_completion,fish,fish/vendor_completions.d/tracer.fish)
	$(call install_completion,zsh,zsh/$(ZSH_FUNCTIONS)/_tracer)

deb: $(BUILD)/tracer
	+scripts/make-deb $(VERSION) $(BUILD)

clean:
	rm -rf $(BUILD)

-include $(OBJECTS:.o=.d) $(PURE_SANITIZED:.o=.d) $(UNIT_TESTS:=.d) $(PURE_FUZZED:.o=.d) $(FUZZ_TARGETS:=.d)
