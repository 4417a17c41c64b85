#!/usr/bin/env bash
# Fetches NVIDIA's disassembler, as a Python package of one pinned version, for the tests that read the kernels' machine
# code: nvcc is often installed without it. It reads the code of every nvcc up to its own version.
#
#   tools/setup-nvdisasm.sh FOLDER      (build/nvdisasm; the program comes to FOLDER/nvidia/cu13/bin/nvdisasm)
set -euo pipefail

version=13.5.37
folder=${1:?usage: tools/setup-nvdisasm.sh FOLDER}
program=$folder/nvidia/cu13/bin/nvdisasm

[[ -x $program && -d $folder/nvidia_cuda_nvdisasm-$version.dist-info ]] && exit 0

echo "setup: fetching nvdisasm $version"
if ! python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
  --only-binary :all: --retries 1 --timeout 60 --upgrade --target "$folder" "nvidia-cuda-nvdisasm==$version"; then
  echo "setup: nvdisasm $version could not be fetched; install it into the path" >&2
  exit 1
fi
