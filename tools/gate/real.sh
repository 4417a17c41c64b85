#!/usr/bin/env bash
# Real comparisons on this machine's CPU, by `bench ab`; builds what they need. The machine has to be idle otherwise: beside
# other work, points differ by tens of percent, and the answer is "inconclusive".
#
#   tools/gate/real.sh slower [BUILD]        a build whose matrix products take 5 % longer: found, and only they named
#   tools/gate/real.sh equal [BUILD] [RUNS]  a build and itself, 20 times: at most one regression
set -euo pipefail

what=${1:?usage: tools/gate/real.sh slower|equal [BUILD] [RUNS]}
build=${2:-build/release}
runs=${3:-20}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
bench=$build/bench
cmake --build "$build" --target bench slowed >&2

# Matrix products of several sizes, and convolutions, which are not changed.
sweep=(--sweep kernels --device cpu --dtype fp32 '--benchmark_filter=kernels/(gemm|conv2d)/forward/fp32/hot/')

case $what in
  slower)
    code=0
    "$bench" ab --out "$out/ab" --pairs 20 --time-budget 15min --format json "$bench" "$build/tests/slowed" \
      -- "${sweep[@]}" --time-budget 12s >"$out/ab.json" || code=$?
    jq -r '.headlines[], (.points[] | select(.verdict == "slower") | "slower: \(.name)")' "$out/ab.json"
    [[ $code == 1 ]] || { echo "real: ab ended with $code, not with 1" >&2; exit 1; }
    others=$(jq '[.points[] | select(.verdict == "slower" and (.name | contains("/gemm/") | not))] | length' "$out/ab.json")
    [[ $others == 0 ]] || { echo "real: $others points that were not changed are called slower" >&2; exit 1; }
    ;;
  equal)
    regressions=0
    for ((run = 1; run <= runs; run++)); do
      code=0
      "$bench" ab --out "$out/$run" --pairs 8 --time-budget 4min "$bench" "$bench" -- "${sweep[@]}" --time-budget 4s \
        >"$out/$run.txt" 2>/dev/null || code=$?
      echo "run $run: $code $(grep -m 1 '^\*' "$out/$run.txt" || true)"
      regressions=$((regressions + (code == 1 ? 1 : 0)))
    done
    echo "$regressions of $runs equal builds are called a regression"
    ((regressions <= 1))
    ;;
  *)
    echo "real: $what: accepted: slower, equal" >&2
    exit 2
    ;;
esac
