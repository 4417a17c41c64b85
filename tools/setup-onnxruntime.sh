#!/usr/bin/env bash
# Fetches what `make onnx-check` and `make peers` compare with, as Python packages of pinned versions:
#
#   tools/setup-onnxruntime.sh FOLDER      (a virtual environment; FOLDER/bin/python runs tools/onnx/answers.py)
set -euo pipefail

packages=(onnxruntime==1.32.0 openvino==2026.4.1 onnx==1.23.2 numpy==2.4.6)
folder=${1:?usage: tools/setup-onnxruntime.sh FOLDER}

"$folder/bin/python" -c 'import onnx, onnxruntime, openvino' 2>/dev/null && exit 0

echo "setup: fetching ${packages[*]}"
python3 -m venv "$folder"
if ! "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: --retries 1 \
  --timeout 60 "${packages[@]}"; then
  rm -rf "$folder"
  echo "setup: ${packages[*]} could not be fetched; install them into $folder, or run tools/onnx/answers.py by hand" >&2
  exit 1
fi
