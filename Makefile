# Atoll's commands. Each installs its prerequisites (system packages by apt if that is permitted, Python packages into
# .venv). Each prints a line a step, and keeps the output in build/logs.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := all
.PHONY: all demo demo-shmem4py test ci docs sanitize linkcheck cross clusters kernels cute torch lint hostile bench soak wheel packages debians stubs format setup setup-test setup-cross setup-packages clean distclean help

all: setup ## a ready environment: .venv/bin/atoll, and `import atoll` in .venv/bin/python
	@scripts/install.sh

demo: all ## rain on a real mountain, by four PEs; saves a picture and prints its path
	@scripts/demo.sh

demo-shmem4py: all ## a program of shmem4py's by `from atoll import shmem`, then by shmem4py itself on our oshcc
	@scripts/demo-shmem4py.sh

test: setup setup-test ## release build, C++ and Python tests, layout, formatters and linters; one closing line
	@scripts/test.sh

ci: ## test, docs, kernels, hostile, cute, wheel, torch, clusters, lint, sanitize and cross, with one closing line
	@scripts/ci.sh

docs: setup ## the documentation site, in build/docs/html; every warning and dead link is an error
	@scripts/docs.sh

linkcheck: docs ## follow the links of the site that leave it; needs a network, and is not in ci
	@.venv/bin/python docs/site/links.py

sanitize: setup setup-test ## the C++ tests under ASan + UBSan, then TSan
	@scripts/sanitize.sh

lint: setup setup-test ## clang-tidy over all sources, every header by every compiler of Debian's
	@scripts/lint.sh

hostile: setup setup-test ## a part of the tests on machines that lack something: memory, cores, a home, /tmp, IPv4
	@scripts/hostile.sh

cross: setup-cross ## cross-compile for aarch64, run the C++ tests under qemu-user
	@scripts/cross.sh

clusters: setup setup-test ## jobs over several hosts (network namespaces; needs root): Slurm, PRRTE, MPI, torchrun, ssh
	@scripts/clusters.sh

kernels: setup setup-test ## kernels in Numba and Triton, run on CPUs and compiled for GPUs (none is needed)
	@scripts/kernels.sh

cute: setup ## kernels in NVIDIA's CuTe DSL, compiled for GPUs (none is needed; 100 MB to fetch)
	@scripts/cute.sh

torch: setup ## the backend of torch.distributed against gloo (installs PyTorch, several GB)
	@scripts/torch.sh

bench: setup ## Atoll against its peers (Open MPI, shmem4py) in one run: a table of ratios, and bench/results/host.json
	@scripts/bench.sh

soak: setup setup-test ## long-running tests (ATOLL_TEST_SOAK_SECONDS, 600 by default)
	@scripts/soak.sh

wheel: setup setup-test ## a wheel in dist/, with kernels for all GPUs, tested in a separate environment
	@scripts/wheel.sh

packages: all setup-packages ## the files of a release in dist/, and the recipes of packaging/ (35 minutes; not in ci)
	@scripts/packages.sh

debians: ## README's two commands on fresh Debian 12 and 13 (an hour; needs root; not in ci)
	@scripts/debians.sh

stubs: all ## rewrite python/atoll/_atoll.pyi from the built module
	@scripts/stubs.sh

format: setup ## clang-format and ruff over everything
	@scripts/format.sh

setup:
	@scripts/setup.sh build
	@scripts/setup.sh venv

setup-test:
	@scripts/setup.sh test

setup-cross:
	@scripts/setup.sh cross

setup-packages:
	@scripts/setup.sh packages

clean: ## remove what was built
	@rm -rf build dist

distclean: clean ## remove .venv too
	@rm -rf .venv

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/  make \1\t\2/' | expand -t 22
