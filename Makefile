# The two commands of the README are `make run` and `make test`. `make help` lists the rest.
#
#   make run ARGS="--sweep batch --workload resnet50 --dtype bf16"
#
# SETUP=skip         don't look for missing packages
# ARCH=90            compile CUDA for a card of compute capability 9.0, from now on in this build folder; ARCH=all for every
#                    card from the T4 on. Else for the cards that are here; without NVIDIA's driver no CUDA.
# CMAKE_FLAGS="…"    passed to cmake
# CHECK_ARGS="…"     options of gpu-check, such as --only kernels
ARGS ?= --sweep batch
PEERS_ARGS ?=
CHECK_ARGS ?=
CMAKE_FLAGS ?=
ARCH ?=
SETUP ?= apt
CLANG_TIDY ?= build/tidy/clang_tidy/data/bin/clang-tidy
JOBS := $(shell nproc)

# Thread sanitizer's shadow memory does not fit every layout that address randomisation picks.
NO_RANDOM := $(shell setarch --addr-no-randomize true 2>/dev/null && echo setarch --addr-no-randomize)

# T4, A100, RTX 30 series, RTX 40 series and L4, H100 and H200; the last as PTX too, for what comes later.
EVERY_CARD := 75-real;80-real;86-real;89-real;90
# An ARCH that was given is an error where its code cannot be compiled; what a target sets by itself is not.
GIVEN_ARCH = $(if $(filter command environment,$(origin ARCH)),"-DBENCH_ARCH=$(ARCH)")
FLAGS = $(if $(ARCH),"-DCMAKE_CUDA_ARCHITECTURES=$(if $(filter all,$(ARCH)),$(EVERY_CARD),$(ARCH))" $(GIVEN_ARCH)) $(CMAKE_FLAGS)

.PHONY: help run test plans golden setup build configured configure lint asan tsan peers gate diagnosis calibrate field onnx-check gpu-check gpu-card gpu-bundle package package-check root-check ci-check docs
.DEFAULT_GOAL := help
# Two makes in one build folder would step on each other; ninja does the work in parallel.
.NOTPARALLEL:

help:
	@echo "make run [ARGS=\"--sweep batch …\"]  build, then run bench (its options: make run ARGS=--help)"
	@echo "make test                          build everything and run all tests but those that need a GPU"
	@echo "make plans                         without a GPU: every card's cuDNN plans and kernels, not a few of them"
	@echo "make golden                        write the pages and words of tests/golden anew; git diff shows what changed"
	@echo "make setup                         install what is missing of packages.txt"
	@echo "make build                         build/release/bench"
	@echo "make lint                          clang-format and clang-tidy over our sources"
	@echo "make asan | tsan                   tests under address+undefined, or thread sanitizer"
	@echo "make peers                         compare with PyTorch, onnxruntime and OpenVINO; writes results/reference/"
	@echo "make gate                          how often the stop rule and the comparison are wrong, by simulation"
	@echo "make diagnosis                     whether advise names what is wrong, in 100 made-up cases: 1 hour; writes results/reference/"
	@echo "make calibrate TABLES=FOLDER       fit predictions to published measurements; writes results/calibration.json"
	@echo "make field                         how far predictions and advice are from what others measured: results/field/"
	@echo "make onnx-check [ONNX=…]           answers of imported networks next to onnxruntime's"
	@echo "make gpu-check [CHECK_ARGS=…]      on a machine with a GPU: its tests, sweeps and a comparison with PyTorch"
	@echo "make ci-check                      the ReFrame test here, and the linters of the files for CI systems and containers"
	@echo "make docs                          build/docs/: these pages as a site that can be searched"
	@echo "make package [ARCH=90]             build/packages/: a tarball and a wheel, which run where nothing can be built"
	@echo "make package-check                 the packages in clean roots of other releases; needs root and mmdebstrap"
	@echo "make root-check [ROOTS=\"trixie …\"]  make run and make test in clean roots of other releases; likewise"
	@echo "make gpu-bundle [ARCH=90]          build/gpu-bundle-cuda13.tar.xz, the same where nothing can be installed"

run: build
	build/release/bench $(ARGS)

# One batch of each card's cuDNN plans, the kernels of the build's architectures; `make plans` takes all. Not built are only
# the programs of BENCH_TESTS_ELSEWHERE, which .ci/run has for the sanitizers.
test: setup configured
	cmake --build --preset release
	BENCH_FEW_PLANS=1 ctest --preset release --label-exclude gpu --parallel $(JOBS) --exclude-regex NOT_BUILT

# In a folder of its own: build/release stays as it is, for the card at hand.
PLANS_TESTS := ^(All/)?(CudnnPlans|CudnnPlanBuilds|CudnnAttentionPlans|CudnnPlanning|LargeBatches|KernelUsage)\.|^cuda_kernels.compiled_for
plans: setup
	cmake --preset release -B build/plans "-DCMAKE_CUDA_ARCHITECTURES=$(EVERY_CARD)" -DBENCH_EVERY_CARD=ON $(CMAKE_FLAGS)
	@python3 tools/gpu/look.py --build build/plans
	cmake --build build/plans --target tests_cudnn
	ctest --test-dir build/plans --output-on-failure --no-tests=error --parallel $(JOBS) --tests-regex '$(PLANS_TESTS)'

# Written anew: look at what `git diff tests/golden` says before it is committed.
WITH_WORDS := result core sweeps loader onnx networks kernels
golden: setup configured
	cmake --build --preset release --target tests_program $(addprefix tests_,$(WITH_WORDS))
	BENCH_UPDATE_GOLDEN=1 ctest --preset release --tests-regex '^program\.Pages$$'
	@suites=$$( (grep -rl --include='*_test.cpp' expect_words tests | xargs grep -hoE '^TEST(_[FP])?\(\w+' | sed 's/.*(//'; \
	  ls tests/golden/words | sed 's/.*-//; s/[.]txt//') | sed 's/.*/&.*:*\/&.*/' | sort -u | paste -sd:); \
	for room in $(WITH_WORDS); do \
	  BENCH_UPDATE_GOLDEN=1 OMP_WAIT_POLICY=passive XDG_CACHE_HOME=$(CURDIR)/build/release/test_cache \
	    build/release/tests/tests_$$room --gtest_brief=1 --gtest_filter="$$suites" || exit 1; done

setup:
ifneq ($(SETUP),skip)
	@tools/setup.sh packages.txt
endif

build: setup configured
	@cmake --build --preset release --target bench

configure: setup
	cmake --preset release $(FLAGS)

# ninja runs cmake again where a CMake file changed; this is for the first time, and for another ARCH.
configured: setup
	@[ -e build/release/build.ninja -a -z "$(ARCH)" ] || cmake --preset release $(FLAGS)
build/%/build.ninja: | setup
	cmake --preset $* $(FLAGS)

# A folder of its own, in which each file is compiled by itself: clang-tidy looks at one at a time. Nothing is built there but
# the header with the commit's name. LINT_SINCE=COMMIT: clang-tidy looks only at what changed after that commit.
LINT_SINCE ?=
lint: setup
ifneq ($(SETUP),skip)
	@tools/setup.sh tools/packages-lint.txt
	@tools/setup-tidy.sh build/tidy
endif
	cmake --preset release -B build/lint -DBENCH_TOGETHER=OFF -DBENCH_TESTS=OFF $(CMAKE_FLAGS) >/dev/null
	cmake --build build/lint --target bench_git
	CLANG_TIDY=$(CLANG_TIDY) tools/lint.sh build/lint $(LINT_SINCE)

# These again under a sanitizer take minutes and run no code that the others do not.
LONGEST := EveryNetworkTrains.*/(vgg16|vgg16_gap|unet|resnet50|mobilenet_v2|yolov3_tiny)$$|MemorySweepProgram.FindsProvesAndWatches|PlannedAndTracked
# Where only some test programs are built: tests of the others, and of the program as a whole.
OF_OTHERS := NOT_BUILT|^program\.|^report\.|^build|^tools
# All tests, or those that ASAN_TESTS names.
ASAN_TESTS ?=
asan: setup build/asan/build.ninja
	cmake --build --preset asan $(if $(ASAN_TESTS),--target $(ASAN_TESTS))
	ctest --preset asan --label-exclude gpu --parallel $(JOBS) \
	  --exclude-regex '$(LONGEST)$(if $(ASAN_TESTS),|$(OF_OTHERS))'

# libgomp is not built for the thread sanitizer: it sees none of its barriers and would report every parallel
# region as a race. These tests run our own threads' code.
TSAN_TESTS := tests_loader
tsan: setup build/tsan/build.ninja
	$(NO_RANDOM) cmake --build --preset tsan --target $(TSAN_TESTS)
	OMP_NUM_THREADS=1 $(NO_RANDOM) ctest --preset tsan --label-exclude gpu --exclude-regex '$(OF_OTHERS)' --parallel $(JOBS)

peers: setup configured
ifneq ($(SETUP),skip)
	@tools/setup.sh tools/packages-peers.txt
	@tools/setup-onnxruntime.sh build/onnxruntime
endif
	cmake --build --preset release --target bench peers_ours peers_bare peers_harness peers_loading peers_simulating \
	  onnx_answers
	/usr/bin/python3 tools/peers/peers.py --build build/release --onnx-python build/onnxruntime/bin/python $(PEERS_ARGS)

gate: setup configured
	cmake --build --preset release --target gate_stop_rule gate_comparison
	build/release/tools/gate/gate_stop_rule
	build/release/tools/gate/gate_comparison results/reference/intel-xeon-2-cores/kernels-all-cpu.json $(GATE_SUITES)

# Killed, it goes on where it was.
DIAGNOSIS_ARGS ?=
diagnosis: setup configured
	cmake --build --preset release --target bench diagnosis_images diagnosis_slow_calls
	python3 tools/diagnosis/diagnosis.py --build build/release $(DIAGNOSIS_ARGS)

# By hand, where the model or the tables change; docs/predict-model.md names the tables.
calibrate:
ifndef TABLES
	$(error TABLES is not set: give the folder of published measurements, make calibrate TABLES=FOLDER)
endif
ifneq ($(SETUP),skip)
	@tools/setup.sh tools/packages-calibrate.txt
endif
	/usr/bin/python3 tools/calibrate/calibrate.py $(TABLES)
	/usr/bin/python3 tools/calibrate/evaluate.py $(TABLES)

# FIELD_ARGS=--verbose: each row and each reading.
FIELD_ARGS ?=
field: build
ifneq ($(SETUP),skip)
	@tools/setup-onnxruntime.sh build/onnxruntime
endif
	build/onnxruntime/bin/python tools/field/score.py build/release/bench $(FIELD_ARGS)

ONNX ?= $(wildcard tests/kernels/networks/onnx/data/*.onnx)
onnx-check: setup configured
ifneq ($(SETUP),skip)
	@tools/setup-onnxruntime.sh build/onnxruntime
endif
	cmake --build --preset release --target onnx_answers
	build/onnxruntime/bin/python tools/onnx/answers.py build/release/tools/onnx/onnx_answers $(ONNX)

GPU_PARTS := bench tests_gpu tests_gpu_device peers_ours
gpu-check: gpu-card setup configured
	@python3 tools/gpu/look.py --build build/release
	cmake --build --preset release --target $(GPU_PARTS)
	python3 tools/gpu/check.py build/release $(CHECK_ARGS)

# Before anything is installed or built.
gpu-card:
	@python3 tools/gpu/look.py --card

# For another machine, whose card is not known here.
gpu-bundle: ARCH := $(or $(ARCH),all)
gpu-bundle: setup configured
	@python3 tools/gpu/look.py --build build/release
	cmake --build --preset release --target $(GPU_PARTS:%=bundled_%)
	python3 tools/gpu/bundle.py build/release build $(if $(filter all,$(ARCH)),,--most 40)

# For every card, in a folder of its own: build/release stays as it is, for the card at hand.
package: ARCH := $(or $(ARCH),all)
package: setup
	cmake --preset release -B build/package -DBENCH_TESTS=OFF -DBENCH_FMT=fmt::fmt-header-only $(FLAGS)
	cmake --build build/package --target bench
	python3 tools/package/package.py build/package build/packages

# In roots that this machine's package sources fill; of what `make package` made, for whatever card.
package-check:
ifneq ($(SETUP),skip)
	@tools/setup.sh tools/packages-check.txt
endif
	@[ -e build/packages ] || { echo "package-check: there are no packages: run make package first" >&2; exit 2; }
	python3 tools/package/check.py build/packages build/roots

# As someone who has just cloned this checkout there. ROOTS="trixie --without-tests": that release only, without its tests.
ROOTS ?=
root-check:
ifneq ($(SETUP),skip)
	@tools/setup.sh tools/packages-check.txt
endif
	python3 tools/releases/root_check.py build/roots $(ROOTS)

docs:
ifneq ($(SETUP),skip)
	@tools/setup.sh tools/packages-docs.txt
endif
	python3 tools/docs/pages.py gather build/docs-pages
	mkdocs build --quiet --strict --clean --config-file tools/docs/mkdocs.yml
	python3 tools/docs/pages.py check build/docs

ci-check: build
ifneq ($(SETUP),skip)
	@tools/setup-ci.sh build/ci-tools
endif
	tools/ci_check.sh build/ci-tools build/release/bench
