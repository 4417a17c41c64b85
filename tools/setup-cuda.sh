#!/usr/bin/env bash
# Where nvcc is installed and the headers of cudnn-frontend are not, fetches them: a header-only package of NVIDIA's
# that few distributions have. Does nothing on a machine without nvcc.
#
#   tools/setup-cuda.sh FOLDER      (build/wheels; the headers come to FOLDER/include)
#
# Exit code 0 whatever happens: without the headers the program is built without the CUDA device, and says why.
set -uo pipefail

package=nvidia-cudnn-frontend
folder=${1:?usage: tools/setup-cuda.sh FOLDER}

# Where pip puts packages, a line each.
sites=$(python3 -c 'import site, sysconfig; print(sysconfig.get_paths()["purelib"], site.getusersitepackages(), sep="\n")' \
  2>/dev/null)

have_nvcc() {
  [[ -n ${CUDACXX:-} ]] || command -v nvcc >/dev/null || [[ -x ${CUDA_HOME:-/usr/local/cuda}/bin/nvcc ]] && return 0
  local root
  while IFS= read -r root; do
    [[ -n $root && -x $root/nvidia/cu13/bin/nvcc ]] && return 0
  done <<<"$sites"
  return 1
}

have_headers() {
  local root
  while IFS= read -r root; do
    [[ -n $root && -e $root/include/cudnn_frontend.h ]] && return 0
  done <<<"$folder
/usr
/usr/local
${CUDA_HOME:-/usr/local/cuda}
${CUDNN_FRONTEND_ROOT:-}
$sites"
  return 1
}

say_how() {
  {
    echo "setup: $1; the CUDA device will be left out."
    echo "setup: to have it, run 'pip install $package', or unpack that wheel into $folder, then run make configure."
  } >&2
  exit 0
}

have_nvcc || exit 0
have_headers && exit 0

command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1 ||
  say_how "the headers of cudnn-frontend are missing, and there is no pip to fetch them with"

wheel_folder=$(mktemp -d) || exit 0
trap 'rm -rf "$wheel_folder"' EXIT
echo "setup: fetching the headers of cudnn-frontend"
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --retries 1 --timeout 15 \
  --dest "$wheel_folder" "$package>=1.8" ||
  say_how "the headers of cudnn-frontend could not be fetched (is the network there?)"

# A wheel is a zip file.
wheels=("$wheel_folder"/*.whl)
python3 -m zipfile -e "${wheels[0]}" "$wheel_folder/unpacked" &&
  [[ -e $wheel_folder/unpacked/include/cudnn_frontend.h ]] ||
  say_how "$(basename "${wheels[0]}") holds no include/cudnn_frontend.h"
mkdir -p "$folder" && cp -r "$wheel_folder/unpacked/include" "$folder/" ||
  say_how "$folder cannot be written"
