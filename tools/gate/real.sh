#!/usr/bin/env bash
# Real comparisons on this machine's CPU, by `bench ab`; builds what they need. The machine has to be idle otherwise: beside
# other work, points differ by tens of percent, and the answer is "inconclusive".
#
#   tools/gate/real.sh slower [BUILD]                 a build whose matrix products take 5 % longer: found, and only they named
#   tools/gate/real.sh equal [BUILD] [RUNS] [FOLDER]  a build and itself, 20 times: at most one regression. Takes 25 minutes at
#                                                     most; called again, it goes on after the last whole run in FOLDER
set -euo pipefail

usage="usage: tools/gate/real.sh slower|equal [BUILD] [RUNS] [FOLDER]"
what=${1:?$usage}
build=${2:-build/release}
runs=${3:-20}
bench=$build/bench

# Matrix products of several sizes, and convolutions, which are not changed; the short sweep leaves out the products that take
# seconds of a run.
fp32=(--sweep kernels --device cpu --dtype fp32)
sweep=("${fp32[@]}" '--benchmark_filter=kernels/(gemm|conv2d)/forward/fp32/hot/')
short=("${fp32[@]}" '--benchmark_filter=kernels/(gemm|conv2d)/forward/fp32/hot/(inner:(128|256|512)/|in-channels)')

case $what in
  slower)
    cmake --build "$build" --target bench slowed >&2
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
    code=0
    "$bench" ab --out "$out/ab" --pairs 20 --time-budget 15min --format json "$bench" "$build/tests/slowed" \
      -- "${sweep[@]}" --time-budget 12s >"$out/ab.json" || code=$?
    [[ $code == 1 ]] || { echo "real: ab ended with $code, not with 1" >&2; exit 1; }
    others=$(python3 - "$out/ab.json" <<'PYTHON'
import json, sys
result = json.load(open(sys.argv[1], encoding="utf-8"))
slower = [point["name"] for point in result["points"] if point["verdict"] == "slower"]
print(*result["headlines"], *(f"slower: {name}" for name in slower), sep="\n", file=sys.stderr)
print(sum("/gemm/" not in name for name in slower))
PYTHON
    )
    [[ $others == 0 ]] || { echo "real: $others points that were not changed are called slower" >&2; exit 1; }
    ;;
  equal)
    cmake --build "$build" --target bench >&2
    folder=${4:-$build/equal}
    mkdir -p "$folder"
    # Looks after five and seven pairs; a run ends within 70 s.
    for ((run = 1; run <= runs; run++)); do
      [[ -e $folder/$run.txt ]] && continue
      rm -rf "${folder:?}/$run"
      code=0
      "$bench" ab --out "$folder/$run" --pairs 7 --time-budget 70s "$bench" "$bench" -- "${short[@]}" --time-budget 3s \
        >"$folder/unfinished" 2>"$folder/log" || code=$?
      [[ $code == 0 || $code == 1 || $code == 3 ]] || { tail -n 2 "$folder/log" >&2; exit 2; }
      echo "run $run: $code $(grep -m 1 '^\*' "$folder/unfinished")"
      echo "exit code $code" >>"$folder/unfinished"
      mv "$folder/unfinished" "$folder/$run.txt"
      rm -rf "${folder:?}/$run"
    done
    count() { tail -q -n 1 "$folder"/*.txt | grep -cx "exit code $1" || true; }
    echo "of $(count '.') comparisons of a build with itself: $(count 1) a regression, $(count 3) inconclusive, $(count 0) none"
    (($(count 1) <= 1))
    ;;
  *)
    echo "real: $what: accepted: slower, equal" >&2
    exit 2
    ;;
esac
