#!/usr/bin/env bash
# Checks nvcc's code for the hot kernels, for one architecture: no register spills, and as many 16-byte reads and
# writes, and as few narrower reads, as each one's line in hot_kernels.cu says. With nvdisasm, next to nvcc, in the
# path or where tools/setup-nvdisasm.sh brings it, reads and writes are counted in the card's instructions too, no loop
# may choose a function, and for sm_90 the instructions a byte are counted. Needs no GPU.
#
#   compiled_test.sh NVCC ARCHITECTURE SOURCE_FOLDER [nvcc option…]      (75, 80, 86, 89 or 90)
set -euo pipefail

nvcc=${1:?usage: compiled_test.sh NVCC ARCHITECTURE SOURCE_FOLDER}
architecture=${2:?no architecture}
source=${3:?no source folder}
shift 3
kernels=$source/tests/kernels/backends/cuda/compiled/hot_kernels.cu
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

kept='^HOT_(KERNEL|STREAM|PASSES|BRANCHES)\('
[ "$architecture" -lt 80 ] || kept='^HOT_(KERNEL|STREAM|PASSES|BRANCHES|KERNEL_FROM_80)\('
wanted=$(grep -Ec "$kept" "$kernels")
tiled=$(grep -Ec "$kept.*Tiles" "$kernels")
stacks=$(grep -c 'bytes stack frame' "$folder/usage" || true)
[ "$stacks" -eq "$wanted" ] || fail "$wanted kernels, but the compiler speaks of $stacks"

while read -r line; do
  fail "a kernel does not fit its registers: $line"
done < <(grep 'bytes stack frame' "$folder/usage" |
  grep -v ' 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' | sort | uniq -c)

# For each kernel in the source's order: 16-byte reads and writes, narrower reads, accesses to local memory.
awk '/\.entry/ { name = $0; names[++count] = name }
     /ld\.global/ { if (/ld\.global(\.nc)?\.(v4\.[a-z]32|v2\.[a-z]64)/) ++reads[name]; else ++narrower[name] }
     /st\.global(\.wb)?\.(v4\.[a-z]32|v2\.[a-z]64)/ { ++writes[name] }
     /(ld|st)\.local/ { ++locals[name] }
     END { for (i = 1; i <= count; ++i) { name = names[i]
             print reads[name] + 0, writes[name] + 0, narrower[name] + 0, locals[name] + 0, name } }' \
  "$folder"/hot_kernels*.ptx >"$folder/accesses"
[ "$(wc -l <"$folder/accesses")" -eq "$wanted" ] || fail "$wanted kernels, but not as many in the PTX"
# "HOT_KERNEL(4, 4, 5, Flat<GpuFp32, 1, …>)" becomes "4 4 5 - - - Flat<GpuFp32, 1, …>"; a HOT_STREAM has a number for the
# first "-", HOT_PASSES for the second too, HOT_BRANCHES for the first and the third.
grep -E "$kept" "$kernels" | sed -E -e 's/\)$//' \
  -e 's/^HOT_PASSES\(([0-9]+), ([0-9]+), ([0-9]+), ([0-9]+), ([0-9]+), /\1 \2 \3 \4 \5 - /' \
  -e 's/^HOT_BRANCHES\(([0-9]+), ([0-9]+), ([0-9]+), ([0-9]+), ([0-9]+), /\1 \2 \3 \4 - \5 /' \
  -e 's/^HOT_STREAM\(([0-9]+), ([0-9]+), ([0-9]+), ([0-9]+), /\1 \2 \3 \4 - - /' \
  -e 's/^[A-Z_0-9]+\(([0-9]+), ([0-9]+), ([0-9]+), /\1 \2 \3 - - - /' >"$folder/lines"
while read -r least_reads least_writes most_narrower _ _ _ kernel <&3 &&
  read -r reads writes narrower locals name <&4; do
  # The mangled name in the PTX contains the struct's own, an I after a template's.
  body=${kernel#ForEachUnit<}
  struct=${body/<*/I}
  [[ $name == *"$struct"* ]] || fail "the source has $kernel where the PTX has $name"
  ((reads >= least_reads)) || fail "$reads 16-byte reads in $kernel, at least $least_reads are needed"
  ((writes >= least_writes)) || fail "$writes 16-byte writes in $kernel, at least $least_writes are needed"
  ((narrower <= most_narrower)) || fail "$narrower reads of less than 16 bytes in $kernel, at most $most_narrower are allowed"
  ((locals == 0)) || fail "$locals accesses to local memory in $kernel"
done 3<"$folder/lines" 4<"$folder/accesses"

# Kernels with tiles in their name multiply on tensor cores.
multiplying=$(awk '/\.entry/ { name = $0 } /wmma\.mma\.sync/ { names[name] } END { print length(names) }' \
  "$folder"/hot_kernels*.ptx)
[ "$multiplying" -eq "$tiled" ] || fail "$tiled kernels for tensor cores, but $multiplying use them"

# The same in the card's instructions, of which the assembler may have made others. Kernels come in another order.
disassembler=$(PATH=$(dirname "$nvcc"):$PATH:$source/build/nvdisasm/nvidia/cu13/bin command -v nvdisasm || true)
looked_at="PTX; MACHINE CODE SKIPPED, no nvdisasm: run tools/setup-nvdisasm.sh build/nvdisasm"
if [ -n "$disassembler" ]; then
  looked_at="PTX and SASS"
  streams=0
  "$disassembler" -c "$folder/hot_kernels.cubin" >"$folder/sass" 2>"$folder/disassembler" || {
    cat "$folder/disassembler" >&2
    exit 1
  }
  awk '/^\t?\.section[ \t]+\.text\./ { name = $0; sub(/.*\.text\./, "", name); sub(/[, "].*/, "", name); names[name] }
       /LDG\.[A-Z0-9_.]*128/ { ++reads[name] }
       /STG\.[A-Z0-9_.]*128/ { ++writes[name] }
       /[ \t]HG?MMA\./ { ++products[name] }
       END { for (name in names) print name, reads[name] + 0, writes[name] + 0, products[name] + 0 }' \
    "$folder/sass" >"$folder/instructions"
  # Each kernel's instructions, bytes that a warp moves by 16 bytes a lane, and branches that may diverge (BSSY), of
  # the loop that moves most, else of the whole kernel, its branches up to the last 16-byte write: after it only single
  # elements are left. A kernel without such accesses is looked at by its others. A loop ends with a branch to a label
  # before it. `choices`: branches to an address out of a table (BRX), as a switch has them, in the loop with the most.
  # `pass`: thousandths of an instruction a byte in the worst of the innermost loops with 16-byte accesses.
  awk 'function bytes(text) {
         if (!match(text, /[ \t](LDG|STG)\.[A-Z0-9_.]*/)) return 0
         text = substr(text, RSTART, RLENGTH)
         return text ~ /\.128/ ? 16 : text ~ /\.64/ ? 8 : text ~ /\.[US]16/ ? 2 : text ~ /\.[US]8/ ? 1 : 4 }
       function finish() { if (name != "") {
           way = moved["wide", count] ? "wide" : "any"
           if (most[way]) print name, length_of[way], most[way] * 32, diverging[way], pass, "loop", choices + 0
           else print name, count, moved[way, count] * 32, way == "wide" ? until_write : branches[count], pass,
                      "kernel", choices + 0 }
         count = inner = pass = until_write = choices = 0
         split("", moved); split("", most); split("", branches); split("", chosen); split("", label) }
       /^\t?\.section[ \t]+\.text\./ { finish(); name = $0; sub(/.*\.text\./, "", name); sub(/[, "].*/, "", name) }
       /^\.L_x_[0-9]+:/ { sub(/:.*/, ""); label[$0] = count }
       /^[ \t]+\/\*[0-9a-f]+\*\/[ \t]/ && !/[ \t]NOP/ {
         each = bytes($0)
         ++count
         moved["wide", count] = moved["wide", count - 1] + (each == 16 ? 16 : 0)
         moved["any", count] = moved["any", count - 1] + each
         branches[count] = branches[count - 1] + ($0 ~ /[ \t]BSSY/)
         chosen[count] = chosen[count - 1] + ($0 ~ /[ \t]BRX/)
         if (each == 16 && $0 ~ /[ \t]STG/) until_write = branches[count]
         if ($0 ~ /[ \t]BRA[ .]/ && match($0, /\.L_x_[0-9]+/) && (substr($0, RSTART, RLENGTH) in label)) {
           from = label[substr($0, RSTART, RLENGTH)]
           if (chosen[count] - chosen[from] > choices) choices = chosen[count] - chosen[from]
           if (from >= inner && moved["wide", count] > moved["wide", from]) {
             inner = count
             here = (count - from) * 1000 / 32 / (moved["wide", count] - moved["wide", from])
             if (here > pass) pass = int(here + 0.999)
           }
           for (way in ways) {
             loop = moved[way, count] - moved[way, from]
             if (loop > most[way] + 0) {
               most[way] = loop; length_of[way] = count - from; diverging[way] = branches[count] - branches[from]
             }
           }
         }
       }
       BEGIN { ways["wide"]; ways["any"] }
       END { finish() }' "$folder/sass" >"$folder/loops"
  while read -r least_reads least_writes _ most_instructions most_of_pass most_branches kernel <&3 &&
    read -r _ _ _ _ _ name <&4; do
    name=${name#*entry }
    name=${name%%(*}
    read -r _ reads writes products < <(grep -F "$name " "$folder/instructions" || echo "$name 0 0 0")
    ((reads >= least_reads)) || fail "$reads LDG of 16 bytes in $kernel, at least $least_reads are needed"
    ((writes >= least_writes)) || fail "$writes STG of 16 bytes in $kernel, at least $least_writes are needed"
    [[ $kernel != *Tiles* ]] || ((products > 0)) || fail "no HMMA in $kernel"
    read -r _ instructions moved branches pass part choices < <(grep -F "$name " "$folder/loops" ||
      echo "$name 1 0 0 0 kernel 0")
    ((choices == 0)) || fail "$choices choices of a function in a loop of $kernel (BRX)"
    if [ "$most_instructions" != - ] && [ "$architecture" -eq 90 ]; then
      streams=$((streams + 1))
      # Outside of loops, each write may be left out by threads after the last element.
      if [ "$most_branches" = - ]; then
        most_branches=0
        [ "$part" = loop ] || most_branches=$least_writes
      fi
      ((branches <= most_branches)) ||
        fail "$branches branches that may diverge in the hot $part of $kernel, at most $most_branches are allowed"
      ((moved > 0 && instructions * 1000 <= most_instructions * moved)) ||
        fail "$instructions instructions for $moved bytes in $kernel, at most $most_instructions/1000 a byte are allowed"
      [ "$most_of_pass" = - ] || ((pass > 0 && pass <= most_of_pass)) ||
        fail "a pass of $kernel has $pass/1000 instructions a byte, at most $most_of_pass/1000 are allowed"
      [ -z "${BENCH_PRINT_STREAMS:-}" ] || echo "$instructions instructions, $moved bytes, $branches branches in the $part," \
        "its worst pass $pass/1000 a byte: $kernel"
    fi
  done 3<"$folder/lines" 4<"$folder/accesses"
  [ "$architecture" -ne 90 ] || looked_at="$looked_at; $streams stay within their instructions a byte"
fi

[ "$failures" -eq 0 ] || exit 1
echo "sm_$architecture: $wanted kernels, none spills; each has the 16-byte reads and writes that its line asks for, and no" \
  "narrower reads than its line allows; $tiled multiply on tensor cores ($looked_at)"
