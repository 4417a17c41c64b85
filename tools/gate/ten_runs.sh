#!/usr/bin/env bash
# The same sweep on this machine's CPU ten times in a row: how often does a run's interval between runs (ci95_between_ns)
# cover the median of another run? The history of runs starts empty. The machine has to be idle otherwise.
#
#   tools/gate/ten_runs.sh FOLDER [BUILD] [TIME]
#
# FOLDER takes the runs and their history; called again, it goes on after the last whole run. BUILD: build/release. TIME: of a
# run, 15s.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?usage: tools/gate/ten_runs.sh FOLDER [BUILD] [TIME]}
build=${2:-build/release}
time=${3:-15s}
runs=10
# Without --dtype: those that this processor computes in, fp32 and, where it can, bf16.
sweep=(--sweep batch --workload resnet18 --device cpu --image-size 96 --batch 1:16:x2)

cmake --build "$build" --target bench >&2
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
for ((run = 1; run <= runs; run++)); do
  [[ -e $folder/run-$run ]] && continue
  rm -rf "$folder/unfinished"
  code=0
  XDG_CACHE_HOME=$folder/cache "$build/bench" "${sweep[@]}" --time-budget "$time" --no-plot --out "$folder/unfinished" \
    >"$folder/log.txt" 2>&1 || code=$?
  # 3: a point ended in error, which is in the file.
  [[ $code == 0 || $code == 3 ]] || { tail -n 1 "$folder/log.txt" >&2; exit 2; }
  mv "$folder/unfinished" "$folder/run-$run"
  echo "run $run of $runs"
done
files=()
for ((run = 1; run <= runs; run++)); do
  files+=("$folder/run-$run/batch-resnet18-cpu.json")
done
/usr/bin/python3 "$here/between_runs.py" "${files[@]}"
