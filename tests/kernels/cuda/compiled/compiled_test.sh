#!/usr/bin/env bash
# What nvcc makes of the hot kernels, for one architecture: nothing kept outside registers, and memory read and
# written 16 bytes at a time. Needs no GPU.
#
#   compiled_test.sh NVCC ARCHITECTURE SOURCE_FOLDER [nvcc option…]      (75, 80, 86, 89 or 90)
set -euo pipefail

nvcc=${1:?usage: compiled_test.sh NVCC ARCHITECTURE SOURCE_FOLDER}
architecture=${2:?no architecture}
source=${3:?no source folder}
shift 3
kernels=$source/tests/kernels/cuda/compiled/hot_kernels.cu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# --resource-usage prints, for each kernel, its registers, stack frame and spills.
"$nvcc" -std=c++20 -O3 -I "$source" "$@" --gpu-architecture="sm_$architecture" \
  -DHOT_ARCHITECTURE="$architecture" --resource-usage --keep --keep-dir "$folder" -cubin "$kernels" \
  -o "$folder/hot_kernels.cubin" 2>"$folder/usage" || {
  cat "$folder/usage" >&2
  exit 1
}

failures=0
fail() {
  echo "sm_$architecture: $*" >&2
  failures=$((failures + 1))
}

kept='^HOT_(KERNEL|READER)\('
[ "$architecture" -lt 80 ] || kept='^HOT_(KERNEL|READER|KERNEL_FROM_80)\('
wanted=$(grep -Ec "$kept" "$kernels")
tiled=$(grep -Ec "$kept.*Tiles" "$kernels")
readers=$(grep -c '^HOT_READER(' "$kernels")
stacks=$(grep -c 'bytes stack frame' "$folder/usage" || true)
[ "$stacks" -eq "$wanted" ] || fail "$wanted kernels, but the compiler speaks of $stacks"

while read -r line; do
  fail "a kernel does not fit its registers: $line"
done < <(grep 'bytes stack frame' "$folder/usage" |
  grep -v ' 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' | sort | uniq -c)

# Name, 16-byte reads, 16-byte writes, and accesses to local memory of each kernel.
awk '/\.entry/ { name = $0; sub(/.*\.entry /, "", name); sub(/\(.*/, "", name); reads[name] = 0 }
     /ld\.global(\.nc)?\.v4\.[a-z]32/ { ++reads[name] }
     /st\.global(\.wb)?\.v4\.[a-z]32/ { ++writes[name] }
     /(ld|st)\.local/ { ++locals[name] }
     END { for (name in reads) print name, reads[name], writes[name] + 0, locals[name] + 0 }' \
  "$folder"/hot_kernels*.ptx >"$folder/accesses"
[ "$(wc -l <"$folder/accesses")" -eq "$wanted" ] || fail "$wanted kernels, but not as many in the PTX"
without_write=""
while read -r name reads writes locals; do
  [ "$reads" -gt 0 ] || fail "no 16-byte read in $name"
  [ "$writes" -gt 0 ] || without_write="$without_write $name"
  [ "$locals" -eq 0 ] || fail "$locals accesses to local memory in $name"
done <"$folder/accesses"
[ "$(wc -w <<<"$without_write")" -eq "$readers" ] ||
  fail "$readers kernels only read, but these have no 16-byte write:$without_write"

# Kernels whose name speaks of tiles multiply them on tensor cores.
multiplying=$(awk '/\.entry/ { name = $0 } /wmma\.mma\.sync/ { names[name] } END { print length(names) }' \
  "$folder"/hot_kernels*.ptx)
[ "$multiplying" -eq "$tiled" ] || fail "$tiled kernels for tensor cores, but $multiplying use them"

[ "$failures" -eq 0 ] || exit 1
echo "sm_$architecture: $wanted kernels, none spills, all read and write 16 bytes at a time"
