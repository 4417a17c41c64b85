#!/usr/bin/env bash
# What `make gpu-check` runs, with stand-ins for the programs that need a GPU: the order of things, the limits of time,
# and the table of goals. Every number here is invented.
#
#   tests/tools/gpu_check_test.sh SOURCE_FOLDER
set -euo pipefail

source_folder=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

build=$scratch/build
mkdir -p "$build/tests" "$build/tools/peers"

# A program that lists a card, and writes for each sweep what $RESULTS holds of it.
cat >"$build/bench" <<'STUB'
#!/usr/bin/env bash
if [[ $1 == --list ]]; then
  [[ $* == *--benchmark_format=json* ]] || exit 1
  echo '{"devices": [{"id": "cpu", "description": "a processor", "missing": null},'
  [[ ${STUB_CARDS:-1} == 1 ]] || echo '{"id": "cuda:1", "description": "NVIDIA Invented 8000, 8.00 GiB", "missing": null},'
  [[ ${STUB_CARD:-yes} == no ]] && echo '{"id": "cuda", "description": "", "missing": "no driver"}]}' ||
    echo '{"id": "cuda:0", "description": "NVIDIA Invented 9000, 8.00 GiB", "missing": null}]}'
  exit 0
fi
echo "$*" >>"$STUB_CALLS"
echo "card ${CUDA_VISIBLE_DEVICES:-any}" >>"$STUB_CALLS.cards"
while (($# > 0)); do
  case $1 in
    --sweep) sweep=$2 ;;
    --out) out=$2 ;;
    --workload) workload=$2 ;;
  esac
  shift
done
echo "result: somewhere"
[[ ! -e $RESULTS/$sweep.json ]] || cp "$RESULTS/$sweep.json" "$out/$sweep-${workload:-all}-cuda0.json"
STUB
cat >"$build/tests/tests_gpu" <<'STUB'
#!/usr/bin/env bash
exit "${STUB_TESTS:-0}"
STUB
printf '#!/usr/bin/env bash\nexit 0\n' >"$build/tests/tests_gpu_device"
# A contestant: 2 ms a step, implicit_gemm in fp32 4 ms, in fp16 3 ms.
cat >"$build/tools/peers/peers_ours" <<'STUB'
#!/usr/bin/env python3
import atexit, json, os, sys
workload, dtype, batch, warm_up, *rest = sys.argv[1:]
assert "device=cuda:0" in rest and batch.isdigit() and warm_up.isdigit(), sys.argv
assert workload == "resnet50" or {"mode=forward", "mode=h2d", "mode=d2h"} & set(rest), sys.argv
if os.environ.get("STUB_FULL") and (dtype, batch) == ("fp16", "256"):
    sys.exit("peers_ours: out of memory: the card has none left")
if crowded := os.environ.get("STUB_CROWDED"):  # holds the card as long as it lives
    try:
        os.close(os.open(crowded, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        sys.exit("peers_ours: out of memory: another holds it")
    atexit.register(os.remove, crowded)
if "/bundle/" in __file__:
    assert "/bundle/lib" in os.environ["LD_LIBRARY_PATH"]
ns = 2_000_000 if "implementation=implicit_gemm" not in rest else 4_000_000 if dtype == "fp32" else 3_000_000
print(json.dumps({"ready": True, "built_bytes": 0, "about": {"tracked_peak_bytes": 800, "planned_peak_bytes": 800, "reserved_peak_bytes": 900}}), flush=True)
for line in sys.stdin:
    print(json.dumps({"ns": [ns] * int(line.split()[1]), "peak_bytes": 1}), flush=True)
STUB
chmod +x "$build/bench" "$build"/tests/* "$build/tools/peers/peers_ours"

# PyTorch as far as its side of the comparison calls it: 3 ms a step, 1000 B.
mkdir -p "$scratch/torch/torch" "$scratch/torch/torchvision" "$scratch/no-torch/torch"
cat >"$scratch/torch/torch/__init__.py" <<'STUB'
import os, sys
from unittest import mock

assert "/bundle/lib" not in os.environ.get("LD_LIBRARY_PATH", ""), "PyTorch is given our libraries"
fake = mock.MagicMock(__version__="0", __spec__=None)
fake.cuda.is_available.return_value = True
fake.cuda.memory_reserved.return_value = fake.cuda.max_memory_reserved.return_value = 1000
fake.cuda.Event.return_value.elapsed_time.return_value = 3.0
fake.backends.cudnn.version.return_value = 9
sys.modules[__name__] = fake
STUB
echo 'import sys; from unittest import mock; sys.modules[__name__] = mock.MagicMock(__spec__=None)' >"$scratch/torch/torchvision/__init__.py"
echo 'raise ImportError("PyTorch is not here")' >"$scratch/no-torch/torch/__init__.py"

# 465 of the datasheet's 500 GB/s, and a bit faster than a copy; nearly the plan's bytes.
export RESULTS=$scratch/results STUB_CALLS=$scratch/calls
mkdir -p "$RESULTS"
cat >"$RESULTS/kernels.json" <<'JSON'
{"findings": [{"claim": "the sweep kernels found something"}],
 "context": {"device": {"datasheet": {"bytes_per_s": 5e11}, "peaks": {"fp32": {"bytes_per_s": 4.6e11}, "fp16": {"bytes_per_s": 4.5e11}}}},
 "benchmarks": [
  {"name": "large", "params": {"workload": "stream", "mode": "triad", "caches": "cold", "elements": 1000}, "work": {"fixed_bytes": 0, "sample_bytes": 465000}, "stats": {"median_ns": 1000}},
  {"name": "hot", "params": {"workload": "stream", "mode": "triad", "caches": "hot", "elements": 1000}, "work": {"fixed_bytes": 0, "sample_bytes": 460000}, "stats": {"median_ns": 100}},
  {"name": "small", "params": {"workload": "stream", "mode": "triad", "caches": "cold", "elements": 10}, "work": {"fixed_bytes": 0, "sample_bytes": 4600}, "stats": {"median_ns": 1000}}]}
JSON
echo '{"benchmarks": [{"name": "even", "memory": {"peak_predicted": 100, "peak_measured": 100}}, {"name": "a bit off", "memory": {"peak_predicted": 100, "peak_measured": 104}}]}' >"$RESULTS/batch.json"

as=() # whom it runs as: nothing, or a command that begins with who
check() { # check MODULES [DEVICE]: its exit code in $code, what it said in $scratch/said
  : >"$STUB_CALLS"
  code=0
  OUT=$scratch/out PYTHONPATH=$scratch/$1 "${as[@]}" "$source_folder/tools/gpu/check.sh" "$build" ${2:+"$2"} >"$scratch/said" 2>&1 || code=$?
}
# row GOAL VERDICT MEASURED: a row of the table of goals.
row() {
  grep -F -- "$1" "$scratch/said" | grep -qE -- "  $2 +$3" || fail "no row '$1 … $2 … $3' in: $(grep -F -- "$1" "$scratch/said")"
}
says() { grep -qF -- "$1" "$scratch/said" || fail "it does not say: $1"; }

check torch
[[ $code == 0 ]] || fail "exit code $code: $(cat "$scratch/said")"
row "of the datasheet's bandwidth" "met" "93.0% \(0.4[67] of 0.50 TB/s\)"
row "of a copy within the card" "met" "1.011"
row "gemm bf16 8192 vs torch" "met" "1.50 \(1.50–1.50\)"
row "copy h2d pinned 256 MiB vs torch" "met" "1.50"
row "implicit_gemm fp32 vs cudnn" "missed" "0.50"
row "implicit_gemm fp16 vs cudnn" "met" "0.67"
row "resnet50 infer fp16 batch 1 graph vs torch" "met" "1.50"
row "resnet50 train fp16 batch 256 vs torch" "met" "1.50"
row "peak memory reserved, of PyTorch's" "met" "0.90 at most"
row "peak memory, off the plan" "met" "4.0% at most of [0-9]+ points \(a bit off\)"
row "a default batch sweep" "met" "[0-9]+ s"
says "19 goals: 18 met, 1 missed, 0 not measured"
says "the sweep kernels found something"
grep -q -- '--sweep batch$\|--sweep batch --no-plot$' <(grep -v -- '--time-budget' "$STUB_CALLS") || fail "no batch sweep with its defaults"
jq -e 'length == 19 and all(.[]; .name and .target and .verdict)' "$scratch/out/goals.json" >/dev/null || fail "goals.json"

# What is not a card is refused before anything is made or removed.
for device in cpu cuda auto cuda: cuda:x; do
  check torch "$device"
  [[ $code == 2 ]] || fail "$device: exit code $code"
  says "gpu-check: '$device' is no GPU; give cuda:N"
  [[ $(wc -l <"$scratch/said") == 1 ]] || fail "$device: more than a sentence: $(cat "$scratch/said")"
  [[ ! -s $STUB_CALLS ]] || fail "$device: a sweep was run"
done

# A second check leaves nothing of the first: neither results nor pictures nor logs; and no log among the results.
touch "$scratch"/out/{kernels-all-cuda0.png,memory-old-cuda0.svg,batch-old-cuda0.json,kept.txt} "$build/gpu-check-logs/old.log"
check torch
[[ $code == 0 ]] || fail "a second check: exit code $code"
[[ -z $(find "$scratch/out" -name '*old*' -o -name '*.png' -o -name '*.log') ]] || fail "left over: $(ls "$scratch/out")"
[[ -e $scratch/out/kept.txt && ! -e $build/gpu-check-logs/old.log && -s $build/gpu-check-logs/kernels.log ]] || fail "logs: $(ls "$build/gpu-check-logs")"

# Where no log can be written nothing is run.
mv "$build/gpu-check-logs" "$scratch/logs"
touch "$build/gpu-check-logs"
check torch
[[ $code == 2 && ! -s $STUB_CALLS ]] || fail "without a folder for logs: exit code $code"
says "results and logs need these folders: $scratch/out, $build/gpu-check-logs"
rm "$build/gpu-check-logs"
# There is one, but not to be written: what root may do beyond that it does without here.
mkdir "$build/gpu-check-logs"
chmod a-w "$build/gpu-check-logs"
[[ $(id -u) != 0 ]] || as=(setpriv --bounding-set=-dac_override --inh-caps=-dac_override)
if "${as[@]}" true; then
  check torch
  [[ $code == 2 && ! -s $STUB_CALLS ]] || fail "with a folder for logs that cannot be written: exit code $code"
  says "results and logs need these folders: $scratch/out, $build/gpu-check-logs"
else
  echo "root cannot be less than root here: a folder that cannot be written is not tried"
fi
as=()
chmod u+w "$build/gpu-check-logs"

# Without PyTorch, and with results that are missing: said, not invented.
rm "$RESULTS/kernels.json"
check no-torch
[[ $code == 0 ]] || fail "without PyTorch: exit code $code: $(cat "$scratch/said")"
row "gemm bf16 8192 vs torch" "not measured" "ImportError: PyTorch is not here"
row "implicit_gemm fp16 vs cudnn" "met" "0.67"
row "of the datasheet's bandwidth" "not measured" "no result of the sweep kernels"
row "peak memory reserved, of PyTorch's" "not measured" "no ResNet-50 vs PyTorch"

# A test that fails is a failure of the check; the rest is measured all the same.
STUB_TESTS=1 check no-torch
[[ $code == 1 ]] || fail "a failing test: exit code $code"
says "gpu-check: failed: tests-operations (exit code 1)"
row "implicit_gemm fp32 vs cudnn" "missed" "0.50"

# Where there is no time, nothing is run and nothing is claimed.
LIMIT=5 check no-torch
[[ $code == 0 ]] || fail "without time: exit code $code"
says "gpu-check: no time was left for kernels"
says "0 met, 0 missed"
[[ ! -s $STUB_CALLS ]] || fail "it ran a sweep that it had no time for"

STUB_CARD=no check no-torch
[[ $code == 2 ]] || fail "without a card: exit code $code"
says "cuda: no driver"

# A batch that does not fit is a row with its reason, and no failure.
STUB_FULL=yes check torch
[[ $code == 0 ]] || fail "with a full card: exit code $code: $(cat "$scratch/said")"
row "resnet50 train fp16 batch 256 vs torch" "not measured" "ours ended with 1: peers_ours: out of memory: .*"
row "resnet50 train fp16 batch 64 vs torch" "met" "1.50"
grep -qF "one after the other" "$scratch/said" && fail "what did not run was said to have run apart"

# Two that do not fit together run one after the other.
STUB_CROWDED=$scratch/crowded check no-torch
[[ $code == 0 ]] || fail "with room for one: exit code $code: $(cat "$scratch/said")"
row "implicit_gemm fp16 vs cudnn" "met" "0.67"
says "(one after the other)"

# Every program sees the card that was asked for, and no other; a choice made outside holds within.
: >"$STUB_CALLS.cards"
STUB_CARDS=2 check no-torch cuda:1
says "gpu-check: cuda:1 NVIDIA Invented 8000"
[[ $(sort -u "$STUB_CALLS.cards") == "card 1" ]] || fail "cuda:1 is not the card of every sweep: $(sort -u "$STUB_CALLS.cards")"
grep -q -- '--device cuda:0' "$STUB_CALLS" || fail "the only card that is left is not cuda:0"
: >"$STUB_CALLS.cards"
STUB_CARDS=2 CUDA_VISIBLE_DEVICES=4,7 check no-torch cuda:1
[[ $(sort -u "$STUB_CALLS.cards") == "card 7" ]] || fail "cuda:1 of 4,7 is not 7: $(sort -u "$STUB_CALLS.cards")"

# The bundle has all that the check calls for. Any program will do for those that it carries along.
bundled=$scratch/programs
mkdir -p "$bundled/tests" "$bundled/tools/peers"
for program in bench tests/tests_gpu tests/tests_gpu_device tools/peers/peers_ours; do cp "$(command -v jq)" "$bundled/$program"; done
"$source_folder/tools/gpu/bundle.sh" "$bundled" "$scratch/bundle" >"$scratch/said" || fail "bundle.sh: $(cat "$scratch/said")"
cp "$build/bench" "$scratch/bundle/"
cp "$build"/tests/* "$scratch/bundle/tests/"
cp "$build/tools/peers/peers_ours" "$scratch/bundle/tools/peers/"
[[ -n $(find "$scratch/bundle/lib" -name 'libjq*') && -z $(find "$scratch/bundle/lib" -name 'libc.so*') ]] || fail "the bundle's libraries: $(ls "$scratch/bundle/lib")"
OUT=$scratch/out LD_LIBRARY_PATH='' PYTHONPATH=$scratch/torch "$scratch/bundle/check.sh" "$scratch/bundle" >"$scratch/said" 2>&1 || fail "the bundle's check: $(cat "$scratch/said")"
row "implicit_gemm fp16 vs cudnn" "met" "0.67"

row "gemm bf16 8192 vs torch" "met" "1.50"

# What is looked for before anything is built: a driver that shows no card, one that shows one, and a build.
cat >"$scratch/driver.c" <<'C'
int cuInit(unsigned flags) { return flags == 0 ? ERROR : 1; }
int cuDeviceGetCount(int* count) { *count = 1; return 0; }
int cuGetErrorString(int error, const char** text) { *text = error == 803 ? "system has unsupported driver" : 0; return 0; }
C
look() { # look ERROR SENTENCE: the driver answers so; no sentence where all is well
  cc -shared -fPIC "-DERROR=$1" -o "$scratch/libcuda.so.1" "$scratch/driver.c"
  code=0
  LD_LIBRARY_PATH=$scratch "$source_folder/tools/gpu/look.py" --card >"$scratch/said" 2>&1 || code=$?
  if [[ -z $2 ]]; then
    [[ $code == 0 && ! -s $scratch/said ]] || fail "a card was not found: $code, $(cat "$scratch/said")"
  else
    [[ $code == 2 && $(wc -l <"$scratch/said") == 1 ]] || fail "driver error $1: exit code $code"
    says "gpu-check: $2"
  fi
}
look 0 ""
look 100 "the NVIDIA driver shows no card"
look 803 "the NVIDIA driver does not start (error 803: system has unsupported driver)"
"$source_folder/tools/gpu/look.py" --build "$build" || fail "a build with the CUDA device was refused"
mkdir "$build/generated"
echo '#define BENCH_CUDA_MISSING "it was switched off; rerun cmake with -DBENCH_CUDA=AUTO"' >"$build/generated/bench_cuda_missing.h"
code=0
"$source_folder/tools/gpu/look.py" --build "$build" >"$scratch/said" 2>&1 || code=$?
[[ $code == 2 ]] || fail "a build without the CUDA device: exit code $code"
says "was configured without the CUDA device: it was switched off; rerun cmake with -DBENCH_CUDA=AUTO."

# Goals that are missed, of files that hold little.
odd=$scratch/odd
mkdir -p "$odd"
jq -n '{context: {device: {peaks: {fp32: {bytes_per_s: 5e11}}}}, benchmarks: [{params: {workload: "stream", mode: "triad", caches: "cold", elements: 9}, work: {fixed_bytes: 0, sample_bytes: 460000}, stats: {median_ns: 1000}}]}' >"$odd/kernels-all-cuda0.json"
jq -n '{benchmarks: [{name: "off", memory: {peak_predicted: 100, peak_measured: 106}}, {name: "none", memory: {}}]}' >"$odd/memory-x-cuda0.json"
echo 'no JSON' >"$odd/batch-x-cuda0.json"
jq -n '{rows: [{name: "resnet50 x", rival: "torch", goal: 1, ratio: 0.9, ci95: [0.8, 1.1], results: {ours: {about: {tracked_peak_bytes: 9, reserved_peak_bytes: 12}}, torch: {peak_bytes: 10}}},
  {name: "gemm y", rival: "torch", goal: 1, error: "it broke"}]}' >"$odd/gpu-peers.json"
python3 "$source_folder/tools/gpu/goals.py" "$odd" 60.0 >"$scratch/said" 2>&1 || fail "goals.py fails on files that hold little: $(cat "$scratch/said")"
row "of the datasheet's bandwidth" "not measured" "0.46 TB/s; results/gpus.json has no such card"
row "of a copy within the card" "missed" "0.920"
row "resnet50 x vs torch" "missed" "0.90 \(0.80–1.10\)"
row "gemm y vs torch" "not measured" "it broke"
row "peak memory reserved, of PyTorch's" "missed" "1.20 at most \(resnet50 x\)"
row "peak memory, off the plan" "missed" "6.0% at most of 1 points \(off\)"
row "a default batch sweep" "missed" "60 s"
says "batch-x-cuda0.json is not JSON"

((failures == 0)) || exit 1
echo "gpu-check does what it says"
