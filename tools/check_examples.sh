#!/usr/bin/env bash
# Compiles the worked examples of CONTRIBUTING.md: each ```cpp block that names the file it would be.
#
#   tools/check_examples.sh
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
awk -v to="$scratch" '
  /^```cpp / { file = to "/" $2; sub(/[^\/]*$/, "", file); system("mkdir -p " file); file = to "/" $2; next }
  /^```/     { if (file) close(file); file = ""; next }
  file       { print > file }' CONTRIBUTING.md

mapfile -t examples < <(find "$scratch" -name '*.cpp' | sort)
[[ ${#examples[@]} -gt 0 ]] || { echo "CONTRIBUTING.md holds no examples" >&2; exit 1; }
for example in "${examples[@]}"; do
  "${CXX:-g++}" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion \
    -Wnon-virtual-dtor -Werror -I . -I "$scratch" "$example" || { echo "CONTRIBUTING.md: ${example#"$scratch"/} does not compile" >&2; exit 1; }
done
echo "CONTRIBUTING.md: ${#examples[@]} examples compile"
