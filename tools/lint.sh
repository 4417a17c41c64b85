#!/usr/bin/env bash
# Style and static checks over our own sources; every finding is an error.
#
#   tools/lint.sh BUILD_FOLDER [SINCE]
#
# The folder holds compile_commands.json; CLANG_TIDY names the program. SINCE is a commit: clang-tidy looks at what changed after.
set -euo pipefail

build=${1:?usage: tools/lint.sh BUILD_FOLDER [SINCE]}
since=${2:-}
CLANG_TIDY=${CLANG_TIDY:-clang-tidy}
cd "$(dirname "$0")/.."

# Untracked files too, but none that git ignores.
mapfile -d '' sources < <(git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.h' '*.cu' '*.cuh')
clang-format --dry-run -Werror "${sources[@]}"
echo "clang-format: ${#sources[@]} files"

tools/check_examples.sh

tools/tidy.py "$build" "$CLANG_TIDY" ${since:+"$since"}
