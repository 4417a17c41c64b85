#!/usr/bin/env bash
# cmake/Cuda.cmake, included by a project of its own: what BENCH_CUDA does where there is no nvcc, and which of several
# installs of a library it takes.
#
#   tests/build/cuda_option_test.sh SOURCE_FOLDER
set -euo pipefail

source=${1:?usage: cuda_option_test.sh SOURCE_FOLDER}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.22)
project(cuda_option LANGUAGES CXX)
include($source/cmake/Cuda.cmake)
message(STATUS "found: \${BENCH_CUDA_FOUND}")
if(ARCHITECTURES)
  bench_nvcc_architectures(known "\${NVCC}")
  message(STATUS "known: \${known}.")
  bench_foreign_architectures(foreign "\${ARCHITECTURES}" "\${known}")
  message(STATUS "foreign: \${foreign}.")
  bench_compiled_architectures(compiled "\${ARCHITECTURES}" "\${known}")
  message(STATUS "compiled: \${compiled}.")
  bench_architectures_taken(taken "\${ARCHITECTURES}" "\${NVCC}")
  message(STATUS "taken: \${taken}.")
endif()
if(MAJOR)
  set(CMAKE_SYSTEM_PREFIX_PATH "$folder/system")
  bench_cuda_wheels(cuda_wheels \${MAJOR})
  set(CUDAToolkit_VERSION_MAJOR \${MAJOR})
  bench_find_cuda_library(CUDNN cudnn 9 cudnn_graph.h)
  bench_find_cuda_library(CUBLASLT cublasLt \${MAJOR} cublasLt.h)
  message(STATUS "cudnn: \${CUDNN_LIBRARY} with \${CUDNN_INCLUDE_DIR}")
  message(STATUS "cublasLt: \${CUBLASLT_LIBRARY}")
endif()
EOF

fail() {
  echo "FAILED: $1" >&2
  cat "$folder/log" >&2
  exit 1
}

# configure NAME ARGUMENTS...: into a folder of that name; the output goes to $folder/log.
configure() {
  local build=$folder/$1
  shift
  # The C++ compiler is looked at once.
  if [ -e "$folder/off" ] && [ ! -e "$build" ]; then
    mkdir "$build"
    cp -r "$folder/off/CMakeFiles" "$build"
  fi
  env -u CUDACXX cmake -S "$folder" -B "$build" "$@" >"$folder/log" 2>&1
}

says() {
  # CMake breaks lines of an error's text.
  tr -s '\n ' '  ' <"$folder/log" | grep --quiet --fixed-strings -- "$1" || fail "$2: expected '$1'"
}

nowhere=-DCMAKE_CUDA_COMPILER=$folder/nowhere/nvcc
printf '#!/bin/sh\nexit 1\n' >"$folder/broken-nvcc"
chmod +x "$folder/broken-nvcc"

configure off -DBENCH_CUDA=OFF || fail "OFF must configure"
says "found: FALSE" OFF
says "it was switched off; make configure CMAKE_FLAGS=-DBENCH_CUDA=AUTO switches it on" OFF

configure auto "$nowhere" || fail "AUTO without nvcc must configure"
says "found: FALSE" AUTO
says "make configure CMAKE_FLAGS=-DCMAKE_CUDA_COMPILER=/path/to/nvcc" AUTO

configure broken "-DCMAKE_CUDA_COMPILER=$folder/broken-nvcc" || fail "AUTO with an nvcc that fails must configure"
says "broken-nvcc is no nvcc that works with" broken

if configure on -DBENCH_CUDA=ON "$nowhere"; then
  fail "ON without nvcc must fail"
fi
says "BENCH_CUDA is ON, but the CUDA device cannot be built:" ON
says "make configure CMAKE_FLAGS=-DCMAKE_CUDA_COMPILER=/path/to/nvcc" ON

if configure arch -DBENCH_ARCH=90 -DCMAKE_CUDA_ARCHITECTURES=90 "$nowhere"; then
  fail "ARCH without nvcc must fail"
fi
says "ARCH=90 asks for the CUDA device, which cannot be built:" ARCH
says "make configure CMAKE_FLAGS=-DCMAKE_CUDA_COMPILER=/path/to/nvcc" ARCH
configure arch || fail "the same folder without ARCH must configure"
configure arch-off -DBENCH_CUDA=OFF -DBENCH_ARCH=90 || fail "ARCH with OFF must configure"

if configure word -DBENCH_CUDA=maybe; then
  fail "another word must fail"
fi
says "BENCH_CUDA is 'maybe'; accepted are AUTO, ON and OFF." word

# Which architectures suit an nvcc, and what the program is told of them.
printf '#!/bin/sh\nprintf "compute_%%s\\n" 75 80 90 100 86 121 120\n' >"$folder/nvcc"
chmod +x "$folder/nvcc"
architectures() { # architectures WANTED FOREIGN COMPILED
  configure architectures -DBENCH_CUDA=OFF "-DNVCC=$folder/nvcc" "-DARCHITECTURES=$1" || fail "architectures $1"
  says "known: 75;80;86;90;100;120;121." "what nvcc has"
  says "foreign: $2." "what nvcc has not, of $1"
  says "compiled: $3." "what $1 comes to"
}
architectures "75-real;80-real;90" "" "75-real,80-real,90"
architectures "90a-real;86-virtual" "" "90a-real,86-virtual"
architectures "61;75-real;banana;86real" "61;banana;86real" "61,75-real,86real"
architectures all "" "75-real,80-real,86-real,90-real,100-real,120-real,121-real,120-virtual"
architectures all-major "" "75-real,80-real,90-real,100-real,120-real,120-virtual"
architectures native "" ""
architectures "OFF;75" OFF 75

# A compiler that does not say what it has, such as clang.
for one in all all-major; do
  configure silent -DBENCH_CUDA=OFF "-DNVCC=$folder/broken-nvcc" "-DARCHITECTURES=$one" || fail "$one, of a compiler that does not say"
  says "known: ." "$one, of a compiler that does not say"
  says "compiled: ." "$one, of a compiler that does not say"
done

# Numbers are not tried; what else there is comes to a compiler that does not work, and is not taken.
for one in "75-real;90" 86-virtual; do
  configure taken -DBENCH_CUDA=OFF "-DNVCC=$folder/broken-nvcc" "-DARCHITECTURES=$one" || fail "architectures $one"
  says "taken: TRUE." "$one"
done
for one in native "75;native" 100f; do
  configure taken -DBENCH_CUDA=OFF "-DNVCC=$folder/broken-nvcc" "-DARCHITECTURES=$one" || fail "architectures $one"
  says "taken: FALSE." "$one"
done

# With a real compiler: AUTO goes on without what it cannot build, in one sentence; ON does not.
if nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc); then
  configure old "-DCMAKE_CUDA_COMPILER=$nvcc" -DCMAKE_CUDA_ARCHITECTURES="20;9999-real" || fail "AUTO with foreign architectures must configure"
  says "found: FALSE" "foreign architectures"
  says "$nvcc does not compile for 20, 9999-real, which CMAKE_CUDA_ARCHITECTURES asks for; it has " "foreign architectures"
  # It was just seen to work, which takes longer than all else here.
  checked=("-DCMAKE_CUDA_COMPILER=$nvcc" "-DBENCH_CUDA_COMPILER_CHECKED=$nvcc")
  if configure old-on -DBENCH_CUDA=ON "${checked[@]}" -DCMAKE_CUDA_ARCHITECTURES=20; then
    fail "ON with foreign architectures must fail"
  fi
  says "cannot be built: $nvcc does not compile for 20" "ON with foreign architectures"
  configure off-75 "${checked[@]}" -DCMAKE_CUDA_ARCHITECTURES="OFF;75" || fail "AUTO with OFF among architectures must configure"
  says "found: FALSE" "OFF among architectures"
  says "$nvcc does not compile for OFF, which" "OFF among architectures"
  configure words "${checked[@]}" "-DCMAKE_CUDA_ARCHITECTURES=75;native" || fail "AUTO with a word among architectures must configure"
  says "found: FALSE" "a word among architectures"
  says "with $nvcc does not take 75, native, which CMAKE_CUDA_ARCHITECTURES asks for: make configure ARCH=N, where N is the number of your card, such as 86" "a word among architectures"
  if configure words-on -DBENCH_CUDA=ON "${checked[@]}" "-DCMAKE_CUDA_ARCHITECTURES=all;75"; then
    fail "ON with a word among architectures must fail"
  fi
  says "cannot be built: CMake " "ON with a word among architectures"
  says "does not take all, 75, which" "ON with a word among architectures"
  # Known to some versions of CMake and of nvcc, and none of this one may end the configuration at it.
  for one in native 100f; do
    configure "one-$one" "${checked[@]}" "-DCMAKE_CUDA_ARCHITECTURES=$one" || fail "AUTO with $one must configure"
  done
  # Without a driver AUTO builds nothing that no run could use, unless architectures are named or ON asks for it.
  printf '#!/bin/sh\nexit 2\n' >"$folder/python-without-driver"
  chmod +x "$folder/python-without-driver"
  checked+=("-DBENCH_PYTHON=$folder/python-without-driver")
  configure no-driver "${checked[@]}" || fail "AUTO without a driver must configure"
  says "found: FALSE" "without a driver"
  says "CUDA device: off: this machine has no NVIDIA driver; \`make build ARCH=86\` builds it" "without a driver"
  for one in -DBENCH_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=75; do
    configure "asked$one" "${checked[@]}" "$one" || true
    grep --quiet "no NVIDIA driver" "$folder/log" && fail "$one asks for the device without a driver"
  done
  configure empty "${checked[@]}" -DBENCH_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES= || fail "ON with no architectures must configure"
  grep --quiet "does not take" "$folder/log" && fail "no architectures are the usual ones"
  checked+=(-DCMAKE_CUDA_ARCHITECTURES=86)
  configure libraries "${checked[@]}" -DCUDNN_LIBRARY= -DCUBLASLT_LIBRARY= -DNVRTC_LIBRARY= || fail "AUTO without libraries must configure"
  says "found: FALSE" "without libraries"
  says "not found: cuDNN 9 (apt-get install cudnn9-cuda-" "without libraries"
  says "cuBLASLt (part of the toolkit, or pip install nvidia-cublas" "without libraries"
  says "nvrtc (part of the toolkit, or pip install nvidia-cuda-nvrtc" "without libraries"
  # As next to PyTorch 2.6.
  mkdir -p "$folder/cudnn-9.1"
  printf '#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 1\n#define CUDNN_PATCHLEVEL 0\n' >"$folder/cudnn-9.1/cudnn_version.h"
  configure cudnn-9.1-build "${checked[@]}" "-DCUDNN_INCLUDE_DIR=$folder/cudnn-9.1" -DCUDNN_LIBRARY=/lib/libcudnn.so.9 || fail "AUTO with an old cuDNN must configure"
  says "found: FALSE" "with an old cuDNN"
  says "headers of cuDNN 9.8 or later ($folder/cudnn-9.1 has those of 9.1: pip install --upgrade nvidia-cudnn-cu" "with an old cuDNN"
else
  echo "no nvcc here: what AUTO says of its architectures and of missing libraries is not tried"
fi

# Wheels for CUDA 12 in a Python installation, and cuDNN and cuBLASLt of another version in the system.
mkdir -p "$folder"/site/nvidia_cudnn_cu12-9.9.dist-info "$folder"/site/nvidia/{cudnn,cublas}/{lib,include} \
  "$folder"/system/{lib,include}
touch "$folder"/site/nvidia/cudnn/{lib/libcudnn.so.9,include/cudnn_graph.h} \
  "$folder"/site/nvidia/cublas/{lib/libcublasLt.so.12,include/cublasLt.h} \
  "$folder"/system/{lib/libcudnn.so,lib/libcublasLt.so,include/cudnn_graph.h,include/cublasLt.h}
printf '#!/bin/sh\necho %s\n' "$folder/site" >"$folder/python"
chmod +x "$folder/python"
configure wheels12 -DBENCH_CUDA=OFF "-DBENCH_PYTHON=$folder/python" -DMAJOR=12 || fail "wheels of CUDA 12"
says "cudnn: $folder/site/nvidia/cudnn/lib/libcudnn.so.9 with $folder/site/nvidia/cudnn/include" "wheels come before the system"
says "cublasLt: $folder/site/nvidia/cublas/lib/libcublasLt.so.12" "wheels come before the system"
configure wheels13 -DBENCH_CUDA=OFF "-DBENCH_PYTHON=$folder/python" -DMAJOR=13 || fail "wheels of another CUDA"
says "cudnn: $folder/system/lib/libcudnn.so with $folder/system/include" "CUDA 13 takes no cuDNN of a wheel for CUDA 12"
says "cublasLt: $folder/system/lib/libcublasLt.so" "CUDA 13 takes no cuBLASLt of a wheel for CUDA 12"
echo "BENCH_CUDA does what it says"
