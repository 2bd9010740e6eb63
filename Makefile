# The commands of the project. `make help` lists them; each is a script or one line that you can run by hand.
PREFIX ?= /usr/local
BENCH ?= all
ROUNDS ?= 200
SEEDS ?= 500

.PHONY: help demo test bench check crash soak install format clean

help: ## list the commands
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

demo: ## set up, build, stream the Debian catalogue, ask three questions
	scripts/demo

test: ## set up, build and run all tests (dev and asan builds)
	scripts/test

bench: ## print every figure of docs/benchmarks.md; BENCH=<group> runs one group
	scripts/bench $(BENCH)

check: ## format, tidy, layer and ban rules, clang build with lock analysis, thread sanitizer
	scripts/check

crash: ## ROUNDS=200 rounds of kill -9 while the demo rows stream and fold
	scripts/crash $(ROUNDS)

soak: ## SEEDS=500 simulated runs with power cuts, two processes and lost answers
	scripts/soak $(SEEDS)

install: ## PREFIX=DIR: a tree that can be moved and needs no Python and no environment variable
	scripts/install $(PREFIX)

format: ## rewrite our sources with clang-format 19
	git ls-files '*.h' '*.cc' | xargs clang-format-19 -i

clean: ## remove everything that was built
	rm -rf build
