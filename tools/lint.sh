#!/usr/bin/env bash
# Style and static checks over our own sources; every finding is an error.
#
#   tools/lint.sh BUILD_FOLDER      (it holds compile_commands.json; CLANG_TIDY names the program)
set -euo pipefail

build=${1:?usage: tools/lint.sh BUILD_FOLDER}
export CLANG_TIDY=${CLANG_TIDY:-clang-tidy}
cd "$(dirname "$0")/.."

# Untracked files too, but none that git ignores.
mapfile -d '' sources < <(git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.h' '*.cu' '*.cuh')
clang-format --dry-run -Werror "${sources[@]}"
echo "clang-format: ${#sources[@]} files"

tools/check_examples.sh

# Only what is compiled: the database names each file with the flags it is built with. Headers are checked
# through the files that include them. Tests are left to the compiler's warnings: GoogleTest's macros take
# clang-tidy longer than all other sources together; CUDA sources to nvcc's.
mapfile -t units < <(jq --raw-output '.[].file' "$build/compile_commands.json" | grep -Ev '/tests/|[.]cu$' | sort -u)

# The analyzer follows a function's paths up to max-nodes; its default, 225000, takes several times as long.
# g++'s own headers (omp.h) come last, so that clang's take precedence. The number of warnings
# left out, which it prints next to findings, is dropped.
check() {
  "$CLANG_TIDY" -p "$1" --quiet --extra-arg=-idirafter"$(g++ -print-file-name=include)" \
    --extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=max-nodes=10000 \
    --extra-arg=-Wno-unknown-warning-option "$2" 2> >(grep -Ev 'warnings? (generated|treated)|^$' >&2)
}
export -f check
printf '%s\0' "${units[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'check "$0" "$1" || exit 1' "$build"
echo "clang-tidy: ${#units[@]} files"
