#!/usr/bin/env bash
# Runs on a machine with a GPU, in under ten minutes: the tests labelled gpu, the sweeps, and comparisons with other libraries.
#
#   tools/gpu/check.sh FOLDER [DEVICE]
#
# FOLDER is a build folder or one made by bundle.sh; DEVICE is cuda:0 unless given, numbered as `bench --list` does.
# Results go to results/reference/<name of the card>/ of the checkout, or to $OUT if it is set, and replace those of an earlier
# check; their names say cuda-0 for any DEVICE. Each step's output goes to FOLDER/gpu-check-logs/. $LIMIT is the time for all
# steps in seconds, 570 unless set: the step that runs then is interrupted and keeps its measurements, the rest is left out and
# named. Prints the goals last: target, measured value, and met, missed or not measured.
#
# Exit codes: 0 no failure, goals met or not · 1 a test, a sweep or a comparison failed · 2 there is no GPU, DEVICE is not one,
# or a folder cannot be made or written.
set -uo pipefail

folder=$(cd "${1:?usage: tools/gpu/check.sh FOLDER [DEVICE]}" && pwd) || exit 2
device=${2:-cuda:0}
if [[ ! $device =~ ^cuda:[0-9]+$ ]]; then
  echo "gpu-check: '$device' is no GPU; give cuda:N, as '$folder/bench --list' numbers them" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
end=$((SECONDS + ${LIMIT:-570}))

# A bundle's programs take libraries from it, and NVIDIA's from where pip put them: their run path knows the machine they
# were built on. PyTorch must not: it brings its own.
libraries=""
ours=()
if [[ -d $folder/lib ]]; then
  wheels=$(python3 -c 'import glob, sysconfig; print(":".join(glob.glob(sysconfig.get_paths()["purelib"] + "/nvidia/*/lib")))' 2>/dev/null || true)
  libraries=$folder/lib:$wheels${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  ours=(env "LD_LIBRARY_PATH=$libraries")
fi

# "NAME, 28 SMs, …" of the device, or the sentences of all that are none.
if ! listing=$("${ours[@]}" "$folder/bench" --list --benchmark_format=json | python3 -c '
import json, sys
devices = json.load(sys.stdin)["devices"]
found = [one["description"] for one in devices if one["id"] == sys.argv[1] and one["missing"] is None]
print(*(found or [f"{one['"'id'"']}: {one['"'missing'"'] or one['"'description'"']}" for one in devices]), sep="\n")
sys.exit(0 if found else 1)' "$device"); then
  printf 'gpu-check: %s cannot be used here:\n%s\n' "$device" "$listing" >&2
  exit 2
fi
echo "gpu-check: $device $listing"

name=$(tr '[:upper:]' '[:lower:]' <<<"${listing%%,*}" | tr -cs 'a-z0-9' '-' | sed -e 's/^-*//' -e 's/-*$//')
out=${OUT:-$here/../../results/reference/$name}
logs=$folder/gpu-check-logs
if ! mkdir -p "$out" "$logs" || [[ ! -w $out || ! -w $logs ]]; then
  echo "gpu-check: results and logs need these folders: $out, $logs" >&2
  exit 2
fi
# Results of an earlier check are none of this one, nor are their pictures.
rm -f "$out"/{batch,kernels,memory,transfer}-*.{json,png,svg} "$out"/{gpu-peers,goals}.json "$logs"/*.log
# From here on there is but this card, and it is cuda:0: for the tests and for PyTorch too, which choose the first.
card=${device#cuda:}
IFS=, read -ra visible <<<"${CUDA_VISIBLE_DEVICES:-}"
export CUDA_VISIBLE_DEVICES=${visible[card]:-$card}
device=cuda:0
failed=()
left_out=()

# step NAME SECONDS COMMAND…: at most that long, and no longer than there is time for all. Sets took, in seconds,
# where all went well.
step() {
  local what=$1 limit=$2 left=$((end - SECONDS)) begin=$SECONDS
  shift 2
  took=""
  if ((left < 10)); then
    left_out+=("$what")
    return
  fi
  ((limit < left)) || limit=$left
  echo "gpu-check: $what"
  # Interrupted, a sweep saves what it has.
  timeout --signal=INT --kill-after=10 "$limit" "$@" >"$logs/$what.log" 2>&1
  local code=$?
  # 3 is inconclusive: some points in error; the log says which.
  if ((code == 0)); then
    took=$((SECONDS - begin))
  else
    failed+=("$what (exit code $code)")
    tail -n 15 "$logs/$what.log" >&2
  fi
}

plot=()
command -v gnuplot >/dev/null || plot=(--no-plot)
sweep() { # sweep NAME SECONDS OPTIONS…; 0 seconds: the program's own budget
  local what=$1 budget=$2 options=()
  shift 2
  ((budget == 0)) || options=(--time-budget "${budget}s")
  step "$what" $((budget == 0 ? 120 : budget + 30)) "${ours[@]}" "$folder/bench" --device "$device" --out "$out" "${plot[@]}" "${options[@]}" "$@"
}

scripts=$folder/tools/peers
[[ -e $scripts/gpu_peers.py ]] || scripts=$here

step tests-device 40 "${ours[@]}" "$folder/tests/tests_gpu_device" --gtest_brief=1
step tests-operations 90 "${ours[@]}" "$folder/tests/tests_gpu" --gtest_brief=1
# As a user types it, for the goal of how long that takes.
sweep batch 0 --sweep batch
batch_seconds=$took
sweep kernels 60 --sweep kernels
step peers 170 env PYTHONPATH="$here/../peers:$scripts${PYTHONPATH:+:$PYTHONPATH}" python3 "$scripts/gpu_peers.py" --ours "$folder/tools/peers/peers_ours" --ours-libraries "$libraries" --device "$device" --out "$out" --seconds 140
sweep transfer 30 --sweep transfer
sweep batch-graph 25 --sweep batch --workload resnet18 --launch graph --dtype fp16 --batch 1:64:x2
sweep memory 40 --sweep memory --workload resnet50 --mode train --dtype fp32,fp16 --optimizer sgd,adam --memory-cap 6GiB,8GiB,12GiB,16GiB

echo
[[ ! -e $logs/peers.log ]] || tail -n 30 "$logs/peers.log"
python3 "$scripts/goals.py" "$out" "$batch_seconds" || failed+=("the table of goals")
echo "gpu-check: results in $out, logs in $logs, $SECONDS s"
((${#left_out[@]} == 0)) || printf 'gpu-check: no time was left for %s\n' "${left_out[@]}"
if ((${#failed[@]} > 0)); then
  printf 'gpu-check: failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
