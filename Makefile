# Two commands matter: `make run` and `make test`. Both first bring the machine to where they work (scripts/setup.sh).
SHELL := /bin/bash
export PATH := $(CURDIR)/.tools/bin:$(CURDIR)/.tools/node/node_modules/.bin:$(HOME)/.cargo/bin:$(PATH)

UI_SOURCES = $(shell find ui -path ui/node_modules -prune -o -path ui/dist -prune -o -type f -print)
BINARY = target/debug/touchstone

.DEFAULT_GOAL := help
.PHONY: help run build test test-fast check kills attack fuzz bench screenshots setup setup-test clean

help: ## say what can be done here
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# A debug build: it is there twice as fast as a release build, and its window is drawn in under a second.
run: build ## open the window on the sample data, or on FOLDER=…; without a display, serve the same on 127.0.0.1
	@scripts/run.sh "$(FOLDER)"

build: setup ui/node_modules/.built ## build the page and the program
	@cargo build

test: setup-test ui/node_modules/.built ## run every check and every test; ends with how many passed
	@scripts/test.sh all

test-fast: setup-test ui/node_modules/.package-lock.json ## formatting, layers, and the unit tests of the page and of the packages that only compute
	@scripts/test.sh fast

check: setup-test ui/node_modules/.built ## the cheap part of `make test`: formatting, lints, types, licences
	@scripts/test.sh check

kills: setup-test ui/node_modules/.built ## kill the program at random instants and at every failpoint (some minutes); KILLS=200 sets how often
	@TOUCHSTONE_KILLS="$(or $(KILLS),200)" cargo test --workspace --test faults whenever_it_is_killed -- --nocapture

attack: setup-test ui/node_modules/.built ## run all attacks: markup, kills, providers, files, caches, calls (an hour or more); ATTACK=10 runs a tenth
	@scripts/attack.sh

fuzz: setup-test ## fuzz the readers of files (a minute for each target; FUZZ_SECONDS says how long)
	@scripts/fuzz.sh

bench: setup-test ui/node_modules/.built ## measure the engine, the page and the window on generated folders (some minutes)
	@cargo bench --package touchstone-app --bench results
	@cargo bench --package touchstone-app --bench runs
	@cargo bench --package touchstone-formats --bench stabletoolbench
	@cargo bench --package touchstone-scoring --bench stats
	@cargo bench --package touchstone-scoring --bench align
	@cargo bench --package touchstone-scoring --bench diff
	@cargo bench --package touchstone-app --bench metrics
	@cargo bench --package touchstone-formats --bench answers
	@cargo build --release
	@node benches/page/measure.mjs target/release/touchstone target/corpus/100000x700 target/corpus/10000x21000 target/corpus/matrix200x5x12x8
	@cargo bench --package touchstone --bench window
	@cargo bench --package touchstone --bench virtual

screenshots: setup-test build ## draw the pictures of the README into docs/pictures
	@node scripts/screenshots.mjs

setup: ; @scripts/setup.sh run
setup-test: ; @scripts/setup.sh test

# npm's own lock file inside node_modules is written last by `npm ci`: it says which lock file was installed.
ui/node_modules/.package-lock.json: ui/package-lock.json | setup
	@echo "Installing the page's packages."
	@npm --prefix ui ci --no-audit --no-fund --loglevel=error
	@touch $@

# The stamp is not in ui/dist, which is embedded in the program whole.
ui/node_modules/.built: ui/node_modules/.package-lock.json $(UI_SOURCES)
	@npm --prefix ui run --silent build -- --logLevel warn
	@touch $@

clean: ## delete everything that was built or installed in this folder
	rm -rf target ui/dist ui/node_modules tests/mcp-server/node_modules .tools gen permissions
