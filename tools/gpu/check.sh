#!/usr/bin/env bash
# On a machine with a GPU: the tests labelled gpu, the sweeps, and PyTorch beside them, in under ten minutes.
#
#   tools/gpu/check.sh FOLDER [DEVICE]
#
# FOLDER is a build folder or one made by bundle.sh; DEVICE is cuda:0 unless given. Results go to
# results/reference/<device>/ of the checkout, or to $OUT where that is set. Prints a short table last.
#
# Exit codes: 0 all went well · 1 a test, a sweep or the comparison failed · 2 there is no GPU.
set -uo pipefail

folder=$(cd "${1:?usage: tools/gpu/check.sh FOLDER [DEVICE]}" && pwd)
device=${2:-cuda:0}
here=$(cd "$(dirname "$0")" && pwd)

# Where pip put NVIDIA's libraries, for a bundle: the programs' run path knows the machine they were built on.
wheels=$(python3 -c 'import glob, sysconfig; print(":".join(glob.glob(sysconfig.get_paths()["purelib"] + "/nvidia/*/lib")))' 2>/dev/null || true)
[[ -d $folder/lib ]] && export LD_LIBRARY_PATH=$folder/lib:$wheels${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

listing=$("$folder/bench" --list | sed -n "/^  ${device} /p")
if [[ -z $listing || $listing == *"not usable"* ]]; then
  echo "gpu-check: $device cannot be used here:" >&2
  "$folder/bench" --list | sed -n '/^Devices/,$p' >&2
  exit 2
fi
echo "gpu-check: $listing"

name=$(sed -e "s/^ *${device} *//" -e 's/,.*//' <<<"$listing" | tr '[:upper:]' '[:lower:]' | tr -cs 'a-z0-9' '-' | sed -e 's/^-*//' -e 's/-*$//')
out=${OUT:-$here/../../results/reference/$name}
mkdir -p "$out"
failed=()

step() { # step NAME SECONDS COMMAND…
  local what=$1 limit=$2
  shift 2
  echo "gpu-check: $what"
  timeout "$limit" "$@" >"$out/$what.log" 2>&1
  local code=$?
  # 3 is inconclusive: some points in error; the log says which.
  if ((code != 0)); then
    failed+=("$what (exit code $code)")
    tail -n 15 "$out/$what.log" >&2
  fi
}

plot=()
command -v gnuplot >/dev/null || plot=(--no-plot)
sweep() { # sweep NAME SECONDS OPTIONS…
  local what=$1 budget=$2
  shift 2
  step "$what" $((budget + 45)) "$folder/bench" --device "$device" --time-budget "${budget}s" --out "$out" "${plot[@]}" "$@"
}

step tests-device 60 "$folder/tests/tests_gpu_device" --gtest_brief=1
step tests-operations 120 "$folder/tests/tests_gpu" --gtest_brief=1
sweep kernels 60 --sweep kernels
sweep batch 60 --sweep batch --workload resnet50 --dtype fp32,tf32,fp16,bf16
sweep batch-graph 30 --sweep batch --workload resnet18 --launch graph --dtype fp16 --batch 1:64:x2
sweep memory 45 --sweep memory --workload resnet50 --mode train --dtype fp32,fp16 --optimizer sgd,adam --memory-cap 6GiB,8GiB,12GiB,16GiB
if python3 -c 'import torch, torchvision; assert torch.cuda.is_available()' 2>/dev/null; then
  peers=$folder/tools/peers
  [[ -e $peers/gpu_peers.py ]] || peers=$here
  step peers 150 env PYTHONPATH="$here/../peers:$peers" python3 "$peers/gpu_peers.py" --ours "$folder/tools/peers/peers_ours" --device "$device" --out "$out"
else
  echo "gpu-check: no PyTorch with a GPU here: the comparison was not measured"
fi

echo
if [[ -e $out/gpu-peers.txt ]]; then cat "$out/gpu-peers.txt"; fi
for log in kernels batch memory; do
  [[ -e $out/$log.log ]] && sed -n '/^Findings/,/^result/p' "$out/$log.log" | head -n 14
done
echo "gpu-check: results in $out"
if ((${#failed[@]} > 0)); then
  printf 'gpu-check: failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
