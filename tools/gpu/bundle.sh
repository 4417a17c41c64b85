#!/usr/bin/env bash
# Gathers what `make gpu-check` runs into one folder, for a machine with a GPU where nothing can be built or
# installed: programs, the libraries they need other than the C library, CUDA's and cuDNN's, and the scripts.
#
#   tools/gpu/bundle.sh BUILD_FOLDER BUNDLE_FOLDER
#
# There: OUT=FOLDER BUNDLE_FOLDER/check.sh BUNDLE_FOLDER
set -euo pipefail

build=${1:?usage: tools/gpu/bundle.sh BUILD_FOLDER BUNDLE_FOLDER}
bundle=${2:?usage: tools/gpu/bundle.sh BUILD_FOLDER BUNDLE_FOLDER}
source_folder=$(cd "$(dirname "$0")/../.." && pwd)

rm -rf "$bundle"
mkdir -p "$bundle/lib" "$bundle/tests" "$bundle/tools/peers" "$bundle/bin" "$bundle/share/bench/results"
# The program looks for its scripts and its catalogue in share/bench next to bin.
cp "$build/bench" "$bundle/bin/"
ln -s bin/bench "$bundle/bench"
cp "$build/tests/tests_gpu" "$build/tests/tests_gpu_device" "$bundle/tests/"
cp "$build/tools/peers/peers_ours" "$bundle/tools/peers/"
cp "$source_folder"/tools/peers/*.py "$source_folder"/tools/gpu/*.py "$bundle/tools/peers/"
cp "$source_folder/results/gpus.json" "$bundle/share/bench/results/"
cp -r "$source_folder/plots" "$bundle/share/bench/"
cp "$source_folder/tools/gpu/check.sh" "$bundle/"

# The C library and the compiler's come with every system; CUDA's and cuDNN's are the machine's own.
for program in "$bundle"/bin/bench "$bundle"/tests/* "$bundle"/tools/peers/peers_ours; do
  strip --strip-unneeded "$program"
  ldd "$program" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }'
done | sort -u | while IFS= read -r library; do
  case $(basename "$library") in
    libc.so* | libm.so* | libdl.so* | librt.so* | libpthread.so* | ld-linux* | libcu* | libnv*) ;;
    *) cp -L "$library" "$bundle/lib/" ;;
  esac
done
find "$bundle/lib" -type f -exec strip --strip-unneeded {} +
du -sh "$bundle" | cut -f 1 | xargs printf 'bundle: %s in %s\n' "$bundle"
