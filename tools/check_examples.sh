#!/usr/bin/env bash
# Compiles the worked examples of CONTRIBUTING.md and docs/: each ```cpp block that names the file it would be.
# With a folder, only writes them there.
#
#   tools/check_examples.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=${1:-$(mktemp -d)}
awk -v to="$scratch" '
  /^```cpp / { file = to "/" $2; sub(/[^\/]*$/, "", file); system("mkdir -p " file); file = to "/" $2; next }
  /^```/     { if (file) close(file); file = ""; next }
  file       { print > file }' CONTRIBUTING.md docs/*.md
[[ $# -eq 0 ]] || exit 0
trap 'rm -rf "$scratch"' EXIT

mapfile -t examples < <(find "$scratch" -name '*.cpp' | sort)
[[ ${#examples[@]} -gt 0 ]] || { echo "the documents hold no examples" >&2; exit 1; }
for example in "${examples[@]}"; do
  "${CXX:-g++}" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion \
    -Wnon-virtual-dtor -Werror -I . -I "$scratch" "$example" || { echo "${example#"$scratch"/} does not compile" >&2; exit 1; }
done
echo "documents: ${#examples[@]} examples compile"
