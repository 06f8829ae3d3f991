# SPDX-License-Identifier: Apache-2.0
#
# The targets a person types; `make` alone lists them. What has more than a few lines lives in Scripts/.
# Works with GNU make from 3.81, which is what macOS has.

PREFIX ?= /usr/local
DESTDIR ?=
# Compiler jobs; empty means as many as there are cores.
JOBS ?=
# How long `make fuzz` spends on each reader of strangers' bytes, in seconds.
FUZZ_SECONDS ?= 60
# What `make crash` does: random lives of a part file on a simulated disk, kills of the real command, and forced
# shutdowns of each real filesystem under it.
CRASH_SEEDS ?= 150
CRASH_KILLS ?= 1000
CRASH_LOSSES ?= 20
# How many random runs of each path `make paths` takes the median of.
PATH_SEEDS ?= 20
# Passed on to the benchmarks, for example: make bench BENCH_ARGS="--rounds 9 --only loss-20"
BENCH_ARGS ?=

# Debian keeps nginx and apache2 in /usr/sbin, which is not on an ordinary user's PATH.
export PATH := $(PATH):/usr/local/sbin:/usr/sbin:/sbin

SWIFT_JOBS := $(if $(JOBS),-j $(JOBS))
# Apple's systems bring the Swift runtime along, and its linker refuses a static one.
STATIC := $(if $(filter Darwin,$(shell uname -s)),,--static-swift-stdlib)
# Without a run path of its own, an installed haul never loads a library that somebody left beside it.
RELEASE := swift build -c release --product haul $(STATIC) --disable-local-rpath $(SWIFT_JOBS)
# What the release binary is made of: `sudo make install` after `make build` must not need a compiler.
INPUTS := Makefile Package.swift $(shell find Sources -type f 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help demo test fuzz crash sanitize build install uninstall package format lint bench bench-quick paths bench-loopback clean

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1~\2/p' Makefile | awk -F'~' '{ printf "%-22s %s\n", $$1, $$2 }'

demo: dist/haul ## Fetch a generated file over one connection, then with Haul, side by side; needs no network
	@dist/haul demo

test: ## Run all tests, the ones against nginx and Apache included
	@Scripts/deps.sh test
	swift test $(SWIFT_JOBS)
	@Scripts/crash.sh "$$(swift build --show-bin-path)/haul" few
	@SWIFT_JOBS="$(SWIFT_JOBS)" Scripts/fuzz.sh 1

fuzz: ## Run the fuzzers, FUZZ_SECONDS each (60 unless given)
	@Scripts/deps.sh build
	@SWIFT_JOBS="$(SWIFT_JOBS)" Scripts/fuzz.sh $(FUZZ_SECONDS)

crash: dist/haul ## Kills, power losses (by root) and failing system calls under the release binary; takes long
	@Scripts/deps.sh test
	HAUL_CRASH_SEEDS=$(CRASH_SEEDS) HAUL_CRASH_SAMPLES=6 swift test $(SWIFT_JOBS) --filter CrashTests
	@Scripts/crash.sh dist/haul $(CRASH_KILLS) $(CRASH_LOSSES)

sanitize: ## Run the tests below the command under ThreadSanitizer and AddressSanitizer
	@Scripts/deps.sh build
	@SWIFT_JOBS="$(SWIFT_JOBS)" Scripts/sanitize.sh thread address

build: dist/haul ## Leave a stripped release binary in dist/haul that needs no Swift to run

dist/haul: $(INPUTS)
	@Scripts/deps.sh build
	$(RELEASE)
	@mkdir -p dist
	@cp "$$($(RELEASE) --show-bin-path)/haul" dist/haul.new
	@strip dist/haul.new
	@mv dist/haul.new dist/haul
	@ls -lh dist/haul | awk '{ print $$NF ": " $$5 }'

install: dist/haul ## Install the command (and its man page) under PREFIX, which is /usr/local unless given
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -m 755 dist/haul "$(DESTDIR)$(PREFIX)/bin/haul"
	@if [ -f Docs/haul.1 ]; then \
	  set -x; \
	  install -d "$(DESTDIR)$(PREFIX)/share/man/man1" && \
	  install -m 644 Docs/haul.1 "$(DESTDIR)$(PREFIX)/share/man/man1/haul.1"; \
	fi

uninstall: ## Remove what install has put under PREFIX
	rm -f "$(DESTDIR)$(PREFIX)/bin/haul" "$(DESTDIR)$(PREFIX)/share/man/man1/haul.1"

package: dist/haul ## Make a Debian package in dist/
	@Scripts/deps.sh package
	@Scripts/package-deb.sh

format: ## Bring all Swift code into the project's format
	@Scripts/deps.sh lint
	@Scripts/swift-files.sh | xargs -0 swift format --in-place

lint: ## Check format, style and links
	@Scripts/deps.sh lint
	@Scripts/lint.sh

BENCH := python3 Benchmarks/bench.py --haul dist/haul --tools Benchmarks/.venv/bin

bench: dist/haul ## Measure against other downloaders on loopback and on emulated links; leaves Benchmarks/Runs/DATE
	@Scripts/deps.sh bench
	@Scripts/bench-tools.sh
	@$(BENCH) $(BENCH_ARGS)

bench-quick: dist/haul ## A small part of it, with small files
	@Scripts/deps.sh bench
	@Scripts/bench-tools.sh
	@$(BENCH) --quick --out Benchmarks/.quick $(BENCH_ARGS)

paths: ## Show how the automatic choice of connections does on simulated paths, against fixed counts
	@Scripts/deps.sh build
	@swift run -c release $(SWIFT_JOBS) haul-paths $(PATH_SEEDS)

bench-loopback: dist/haul ## Measure against curl, openssl and dd on a loopback nginx
	@Scripts/deps.sh bench
	@$(BENCH) --only plain --only digest --only tls --only durable --only long --only version $(BENCH_ARGS)

clean: ## Remove everything that was built
	rm -rf .build .build-* dist Benchmarks/.build Benchmarks/.venv Benchmarks/.quick
