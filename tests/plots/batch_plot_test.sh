#!/usr/bin/env bash
# plots/batch.gp on an invented result file: the SVG holds its words as text, so they can be looked for.
#
#   tests/plots/batch_plot_test.sh SOURCE_FOLDER
set -euo pipefail

source_folder=$1
example=$source_folder/tests/plots/batch_example.json
PLOT=batch
# shellcheck source=common.sh
source "$source_folder/tests/plots/common.sh"

draw "$example" "$scratch/example"
holds "$scratch/example" "Throughput and memory against batch: example, infer on An invented device_1 @ {2} GHz"
holds "$scratch/example" "2 cores · 2000-01-02 03:04"
holds "$scratch/example" "fp32, saturates at batch 16 or beyond, T∞ 100/s, t0 10 ms"
holds "$scratch/example" "bf16, saturates at batch 4, T∞ ≈ 200/s"
holds "$scratch/example" "Memory in fp32"
holds "$scratch/example" "101 MiB + 21 MiB × batch" "fits to 17 (extrapolated)"
holds "$scratch/example" "cap 460 MiB"
holds "$scratch/example" "437"  # MiB of fp32 at batch 16: 100 + 16·20 + 16 + 1
holds "$scratch/example" "✕ bf16, batch 16: out of memory (allocating 170 MiB would pass the cap)"
holds "$scratch/example" "✕ fp16, batch 1: unsupported (no fp16 here)"
holds "$scratch/example" "○ open marks: wide 95 % interval (1 of 5 points)"
lacks "$scratch/example" "gradients"

# A limit by plan is marked as one; the curve is drawn over the batches of its fit.
jq '(.findings[] | select(.name | startswith("largest_batch"))).details.source = "planned"
  | (.findings[] | select(.name == "t_inf/fp32")).details.batches = [4, 8, 16]' "$example" > "$scratch/planned.json"
draw "$scratch/planned.json" "$scratch/planned"
holds "$scratch/planned" "fits to 17 (planned)"
same "the curve's first batch" 4 "$(tables "$scratch/planned.json" | string dtype1_first)"
same "the curve's first batch of an older file" 1 "$(tables "$example" | string dtype1_first)"

# Findings without interval or value are drawn.
jq '.findings |= map(.ci95 = null | .interval_kind = "none") | (.findings[] | select(.name | startswith("t_inf"))).value = null
  | (.findings[] | select(.name | startswith("t_inf"))).details = {}' "$example" > "$scratch/unknown.json"
draw "$scratch/unknown.json" "$scratch/unknown"
lacks "$scratch/unknown" "T∞"

# A cap far above the bars is named, not drawn; a limit far above the points likewise.
jq '.sweep.memory_cap_bytes = 40 * 1073741824 | .findings[0].details.t_inf_per_s = 5000' "$example" > "$scratch/far.json"
draw "$scratch/far.json" "$scratch/far"
holds "$scratch/far" "↑ cap 40 GiB, 94 times the highest bar"
holds "$scratch/far" "fp32, saturates at batch 16 or beyond, ↑ T∞ 5,000/s"

# Without a limit or a saturation batch, the heading explains neither.
holds "$scratch/example" "curve: fitted; dashed: T∞; ring: saturation batch"
jq '.findings |= map(select(.name | startswith("t_inf") or startswith("ceiling_batch") | not))' "$example" > "$scratch/plain.json"
draw "$scratch/plain.json" "$scratch/plain"
for word in "curve: fitted" "dashed: T∞" "ring: "; do lacks "$scratch/plain" "$word"; done

# The line's constants are of its last segment.
jq '(.findings[] | select(.name | startswith("memory_line")).details.segments) = [{first_batch: 1, fixed_bytes: 1e8, slope_bytes: 22020096},
  {first_batch: 4, fixed_bytes: 105906176, slope_bytes: 22020096}]' "$example" > "$scratch/segments.json"
draw "$scratch/segments.json" "$scratch/segments"
holds "$scratch/segments" "101 MiB + 21 MiB × batch (from batch 4)" "fits to 17 (extrapolated)"

# A mark is open for a flag that other points lack; a flag of all, or flags that together open all marks, leave them filled.
open_marks() { tables "$1" | table rates | awk -F '\t' '$5 % 2 == 0' | wc -l; }
flags() { jq --argjson flags "$1" '.benchmarks |= (to_entries | map(.key as $i | .value | .validity.flags = $flags[$i]))' "$example" > "$scratch/flags.json"; }
flags '[["noisy"], ["noisy"], ["noisy", "throttled:cpu_contention"], ["noisy"], ["noisy"]]'
draw "$scratch/flags.json" "$scratch/flags"
same "the open marks for one flag of two" 1 "$(open_marks "$scratch/flags.json")"
holds "$scratch/flags" "○ open marks: other processes used the CPU (1 of 5 points); all 5 points: wide 95 % interval"
lacks "$scratch/flags" "throttled"
flags '[["noisy"], ["noisy"], ["noisy"], ["noisy"], ["noisy"]]'
draw "$scratch/flags.json" "$scratch/flags"
same "the open marks for a flag of all" 0 "$(open_marks "$scratch/flags.json")"
holds "$scratch/flags" "all 5 points: wide 95 % interval"
flags '[["noisy"], ["noisy"], ["noisy"], ["few_rounds"], ["few_rounds"]]'
draw "$scratch/flags.json" "$scratch/flags"
same "the open marks for two flags that all have one of" 0 "$(open_marks "$scratch/flags.json")"
holds "$scratch/flags" "each point has a flag: fewer than 3 rounds (2 of 5 points), wide 95 % interval (3 of 5 points)"
flags '[["throttled:sw_power_cap"], [], [], [], []]'
draw "$scratch/flags.json" "$scratch/flags"
holds "$scratch/flags" "○ open marks: device throttled (sw power cap) (1 of 5 points)"

# The recommendation is the picture's answer, without what to do. A long one has two lines, broken between clauses; one too
# long for them is cut at a clause, or before an open bracket, and is whole below.
jq '.findings += [{name: "recommendation", value: 4, claim: "Use batch 4 in bf16: 133 ± 2 samples/s [run it again]."}]' "$example" > "$scratch/answer.json"
draw "$scratch/answer.json" "$scratch/answer"
holds "$scratch/answer" "Use batch 4 in bf16: 133 ± 2 samples/s<"
jq '.findings[-1].claim = "Use batch 4 in bf16, as " + ("words " * 18) + "say; " + ("more " * 20) + "follow."' "$scratch/answer.json" > "$scratch/two.json"
draw "$scratch/two.json" "$scratch/two"
holds "$scratch/two" "Use batch 4 in bf16, as words words words words words words words words words words words words words words words words words words say;<"
holds "$scratch/two" "more more more more more more more more more more more more more more more more more more more more follow<"
jq '.findings[-1].claim = "Use batch 4 in bf16; it is the best, (in; brackets, too); " + ("words " * 40) + "follow."' "$scratch/answer.json" > "$scratch/clauses.json"
draw "$scratch/clauses.json" "$scratch/clauses"
holds "$scratch/clauses" "Use batch 4 in bf16; it is the best, (in; brackets, too) …<"
holds "$scratch/clauses" "Use batch 4 in bf16; it is the best, (in; brackets, too); words words"
jq '.findings[-1].claim = "Use batch 4 in bf16, the best, as it is " + ("words " * 40) + "say; more follow."' "$scratch/answer.json" > "$scratch/comma.json"
draw "$scratch/comma.json" "$scratch/comma"
holds "$scratch/comma" "Use batch 4 in bf16, the best …<"
jq '.findings[-1].claim = "Use batch 4 in bf16 (" + ("words; " * 50) + "and so on)."' "$scratch/answer.json" > "$scratch/long.json"
draw "$scratch/long.json" "$scratch/long"
holds "$scratch/long" "Use batch 4 in bf16 …<"
holds "$scratch/long" "Use batch 4 in bf16 (words; words; "

# Names of one dtype's findings carry no dtype.
jq 'del(.benchmarks[3:]) | del(.unmeasured) | .findings |= map(.name |= sub("/fp32"; ""))' "$example" > "$scratch/single.json"
draw "$scratch/single.json" "$scratch/single"
holds "$scratch/single" "fp32, saturates at batch 16 or beyond, T∞ 100/s, t0 10 ms"

# Each stack is as high as its point's bytes, and the picture says so above it.
tables "$example" > "$scratch/tables"
same "the stack of fp32 at batch 16" 437 "$(table bars1 < "$scratch/tables" | awk -F '\t' '$1 == 16 { for (i = 4; i <= NF; ++i) sum += $i; print sum }')"
same "the throughput of fp32 at batch 16" "$(jq '[.benchmarks[] | select(.params == {batch: 16, dtype: "fp32"} or (.params.batch == 16 and .params.dtype == "fp32"))][0].items_per_second' "$example")" \
  "$(table rates < "$scratch/tables" | awk -F '\t' '$1 == 16 && $6 == 29362 { print $2 }')"
same "the ring at the saturation batch of bf16" 4 "$(table saturation < "$scratch/tables" | awk -F '\t' '$3 == 13983232 { print $1 }')"
same "what was not measured, on the axis" 2 "$(table absent < "$scratch/tables" | awk -F '\t' '$2 == 0' | wc -l)"

# Four dtypes: their panels take two rows, each with its heading.
jq '.benchmarks += [.benchmarks[] | select(.params.dtype == "fp32") | .params.dtype = ("fp16", "tf32")]' "$example" > "$scratch/four.json"
draw "$scratch/four.json" "$scratch/four"
for dtype in fp32 tf32 bf16 fp16; do holds "$scratch/four" "Memory in $dtype"; done

# A file of a device that is not here: bands in the place of bars, and "predicted".
jq '.predicted = (.benchmarks | map(. + {real_time: .stats.median_ns, interval80_ns: [.stats.median_ns * 0.8, .stats.median_ns * 1.25]} | del(.stats, .validity)))
  | .benchmarks = []' "$example" > "$scratch/predicted.json"
draw "$scratch/predicted.json" "$scratch/predicted"
holds "$scratch/predicted" "Predicted throughput and memory against batch: example, infer on An invented device_1 @ {2} GHz"
holds "$scratch/predicted" "Throughput, predicted, with the 80 % interval"
lacks "$scratch/predicted" "95 % interval"
same "the band's low end" "$(jq '[.predicted[] | select(.params.batch == 16 and .params.dtype == "fp32")][0] | .items_per_second / 1.25' "$scratch/predicted.json")" \
  "$(tables "$scratch/predicted.json" | table band1 | awk -F '\t' '$1 == 16 { print $2 }')"

# Files with little in them.
jq 'del(.findings, .sweep, .context, .unmeasured) | .benchmarks |= [.[0] | del(.stats, .memory, .validity)]' "$example" > "$scratch/poor.json"
draw "$scratch/poor.json" "$scratch/poor"
holds "$scratch/poor" "The file holds no memory figures."
jq '.benchmarks = []' "$example" > "$scratch/none.json"
draw "$scratch/none.json" "$scratch/none"
holds "$scratch/none" "No point was measured."
echo '{}' > "$scratch/empty.json"
draw "$scratch/empty.json" "$scratch/empty"
holds "$scratch/empty" "No point was measured."

expect_harmless_names_and_failures "$example"
finish
