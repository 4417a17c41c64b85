#!/usr/bin/env bash
# Compiles every file that includes NVIDIA's headers with those of another CUDA version: what the program asks of the
# runtime and of cuBLASLt must be in each that it may be built with. The compilers are those of this machine.
#
#   tools/cuda_headers.sh FOLDER
#
# FOLDER is a toolkit's include folder, or the folder `nvidia` of a Python environment with the packages
# nvidia-cuda-runtime-cu12, nvidia-cuda-nvcc-cu12, nvidia-cuda-cccl-cu12 and nvidia-cublas-cu12, installed or unpacked.
# The headers of cuDNN and NCCL are taken from FOLDER, else from next to nvcc. Set NVCC and CXX to choose the compilers.
#
#   python3 -m pip install --no-deps --target cuda12 \
#     nvidia-cuda-runtime-cu12 nvidia-cuda-nvcc-cu12 nvidia-cuda-cccl-cu12 nvidia-cublas-cu12
#   tools/cuda_headers.sh cuda12/nvidia
set -euo pipefail

folder=$(realpath "${1:?usage: tools/cuda_headers.sh FOLDER}")
cd "$(dirname "$0")/.."
nvcc=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
cxx=${CXX:-g++}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# In one folder, so that headers which include each other by quotes find each other.
mkdir "$work/include"
parts=("$folder"/*/include)
[ ! -e "$folder/cuda_runtime.h" ] || parts=("$folder")
for part in "${parts[@]}"; do
  cp -rsn "$part/." "$work/include/" 2>/dev/null || true  # packages share the name of one file
done
for library in cudnn nccl; do
  if ! compgen -G "$work/include/$library*.h" >/dev/null; then
    cp -s "$(dirname "$(dirname "$(realpath "$nvcc")")")"/include/$library*.h "$work/include/"
  fi
done
for header in cuda_runtime.h crt/host_config.h nv/target cublasLt.h cudnn_graph.h nccl.h; do
  [ -e "$work/include/$header" ] || {
    echo "tools/cuda_headers.sh: no $header in $folder" >&2
    exit 2
  }
done
version=$(echo 'CUDART_VERSION' | "$cxx" -E -P -I "$work/include" -include cuda_runtime_api.h -x c++ - | tail -n 1)

failures=0
compile() {  # FILE COMMAND…
  local file=$1
  shift
  if ! "$@" "$file" >"$work/log" 2>&1; then
    failures=$((failures + 1))
    echo "$file:" >&2
    head -n 20 "$work/log" >&2
  fi
}
flags=(-std=c++20 -I . -I "$work/include")
count=0
while read -r file; do
  count=$((count + 1))
  case $file in
    *.cu) compile "$file" "$nvcc" "${flags[@]}" -arch=sm_75 -ptx -o "$work/ptx" ;;
    *) compile "$file" "$cxx" "${flags[@]}" -Wall -Wextra -Werror -fsyntax-only '-DBENCH_CUDA_ARCHITECTURES="75"' ;;
  esac
done < <(git ls-files 'kernels/*.cu' 'kernels/*/toolkit/*.cpp')

[ "$failures" -eq 0 ] || exit 1
echo "$count files compile with the headers of CUDA $((version / 1000)).$((version % 1000 / 10))"
