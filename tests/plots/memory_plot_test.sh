#!/usr/bin/env bash
# plots/memory.gp on the result of a real run, and on variations of it. The SVG holds its words as text, so
# they can be looked for; the numbers are looked for in what jq makes of the file.
#
#   tests/plots/memory_plot_test.sh SOURCE_FOLDER
#
# memory_example.json is of
#   bench --sweep memory --workload resnet18 --image-size 64 --optimizer adam --batch 1,4,16 --memory-cap 150MiB,200MiB
# with the machine's name and the fields that no picture shows taken out.
set -euo pipefail

source_folder=$1
example=$source_folder/tests/plots/memory_example.json
PLOT=memory
# shellcheck source=common.sh
source "$source_folder/tests/plots/common.sh"

draw "$example" "$scratch/example"
holds "$scratch/example" "What fills the memory, measured at the peak: resnet18 on An example device_1 @ {2} GHz"
holds "$scratch/example" "Within 150 MiB fits batch 218 (fp32 inference) to 710 (bf16 inference), 2 of 4 series, proved by allocating<"  # the claim
holds "$scratch/example" "image size 64 · 2 cores · oneDNN 2.6.3 · 2000-01-02 03:04"
holds "$scratch/example" "fp32 training with adam"
holds "$scratch/example" "58.4 MiB + 309 KiB × batch (from batch 16)"  # of the line's second piece
holds "$scratch/example" "187 MiB + 1.63 MiB × batch"
holds "$scratch/example" "31.3 MiB, the same at each batch"
holds "$scratch/example" "largest: 218 in 150 MiB, 357 in 200 MiB"
holds "$scratch/example" "largest: 7 in 200 MiB"
holds "$scratch/example" "cap 150 MiB"
holds "$scratch/example" "cap 200 MiB"
holds "$scratch/example" "Memory over one step, by plan: fp32 training with adam at batch 4"
holds "$scratch/example" "most held at once: 194 MiB, backward layer4.1.conv2"
holds "$scratch/example" "reserved by the step: 194 MiB"
for pass in forward loss backward optimizer; do holds "$scratch/example" "$pass<"; done
holds "$scratch/example" "✕ not run: larger than the largest cap"
lacks "$scratch/example" "above the axis"
grep -q ">Numbers above the bars: MiB " "$scratch/example.svg" || fail "the numbers are not explained"

# What is drawn is what the file says: the stacks end at the sum of the categories, each step of the
# outline at what is held while its operation runs.
tables "$example" > "$scratch/tables"
mib=1048576
series=("fp32 infer" "fp32 train" "bf16 infer" "bf16 train")
batches=(1 4 16)
for i in 0 1 2 3; do
  read -r dtype mode <<< "${series[i]}"
  for slot in 0 1 2; do
    want=$(jq --arg dtype "$dtype" --arg mode "$mode" --argjson batch "${batches[slot]}" --argjson mib $mib '
      [.benchmarks[] | select(.params.dtype == $dtype and .params.mode == $mode and .params.batch == $batch)
        | .memory | .weights + .gradients + .optimizer + .activations + .input + .workspace + .other] | first // 0 | . / $mib' "$example")
    got=$(table "bars$((i + 1))" < "$scratch/tables" |
      awk -F '\t' -v OFMT=%.12g -v batch="${batches[slot]}" '$1 == batch { for (c = 3; c <= NF; ++c) sum += $c; print sum + 0 }')
    same "${series[i]} at batch ${batches[slot]}" "$want" "$got"
  done
done
[[ $(table bars2 < "$scratch/tables" | cut -f 1,2 | tr '\t\n' ':,') == 1:189,4:194,16:✕, ]] || fail "the numbers above the bars, or the mark of what passes the cap"
for operation in 1 76 80 158; do
  want=$(jq --argjson at $((operation - 1)) --argjson mib $mib '[.sweep.step_memory.bytes[][$at]] | add / $mib' "$example")
  got=$(table step < "$scratch/tables" | awk -F '\t' -v OFMT=%.12g -v at=$operation '$1 == at { for (c = 2; c <= NF; ++c) sum += $c; print sum }')
  same "held by operation $operation" "$want" "$got"
done
[[ $(table step < "$scratch/tables" | wc -l) == 159 ]] || fail "not a row an operation, and one for the end of the last"
same "the weights" "$(jq --argjson mib $mib '.sweep.step_memory.bytes.weights[0] / $mib' "$example")" \
  "$(table step < "$scratch/tables" | tail -n 1 | cut -f 2)"
same "where the peak is" 76 "$(table peak < "$scratch/tables" | cut -f 1)"
same "the reserved line" "$(jq --argjson mib $mib '.sweep.step_memory.reserved_bytes / $mib' "$example")" \
  "$(string reserved < "$scratch/tables")"

# Caps close together are all named; one far above is in a note.
jq '.sweep.memory_caps_bytes = [195, 200, 203, 206, 800 | . * 1048576] | .sweep.limits |= map(.cap_bytes = 200 * 1048576)' \
  "$example" > "$scratch/caps.json"
draw "$scratch/caps.json" "$scratch/caps"
holds "$scratch/caps" "Cap above the axis: 800 MiB (4 times the highest bar)"
tables "$scratch/caps.json" > "$scratch/tables"
[[ $(string caps < "$scratch/tables") == 4 ]] || fail "not all caps within reach are drawn"
for cap in 195 200 203 206; do holds "$scratch/caps" "cap $cap MiB"; done

# One series.
one='(.benchmarks, .unmeasured) |= map(select(.params.dtype == "fp32" and .params.mode == "train")) | .sweep.limits |= map(select(.label == "fp32 training with adam"))'
jq "$one" "$example" > "$scratch/one.json"
draw "$scratch/one.json" "$scratch/one"
holds "$scratch/one" "largest: 7 in 200 MiB"
[[ $(tables "$scratch/one.json" | string panels) == 1 ]] || fail "not 1 panel"

# More series than panels: the rest is named. Micro-batches and values computed again.
jq '(["x2", "x3"] as $more | .benchmarks += [$more[] as $m | .benchmarks[] | .params.optimizer = $m])
    | .sweep.step_memory.names |= (.[90:100] |= map("forward x again"))' "$example" > "$scratch/many.json"
draw "$scratch/many.json" "$scratch/many"
holds "$scratch/many" "backward, computing values again"
holds "$scratch/many" "Measured, not drawn: bf16 inference with x2, bf16 training with x2, bf16 inference with x3, bf16 training with x3"
[[ $(tables "$scratch/many.json" | string panels) == 8 ]] || fail "not 8 panels"

# Updates between backward operations are part of that pass.
jq '.sweep.step_memory.names |= (.[100] = "optimizer x" | .[120] = "optimizer y")' "$example" > "$scratch/updates.json"
draw "$scratch/updates.json" "$scratch/updates"
holds "$scratch/updates" "backward, updating weights<"
[[ $(tables "$scratch/updates.json" | table passes | cut -f 2 | sort | tr '\n' ',') == "backward, updating weights,forward,loss,optimizer," ]] ||
  fail "the passes of a step that updates weights in between"

# Whole series without a bar have no panel, but their reason.
jq '.benchmarks |= map(select(.params.mode == "infer"))
    | .sweep.limits |= map(if .params.mode == "train" then .largest_batch = 0 else . end)
    | .unmeasured += [{params: {dtype: "fp16", mode: "infer", batch: 1}, status: "unsupported", reason: "no fp16 here"},
                      {params: {dtype: "tf32", mode: "infer", batch: 1}, status: "skipped", reason: "no time"}]' "$example" > "$scratch/few.json"
draw "$scratch/few.json" "$scratch/few"
holds "$scratch/few" "Too large for 200 MiB, by plan, even at the smallest batch: bf16 training with adam (193 MiB at batch 1), fp32 training with adam (189 MiB at batch 1)"
holds "$scratch/few" "Unsupported: fp16 inference (no fp16 here)"
holds "$scratch/few" "Not measured: tf32 inference"
[[ $(tables "$scratch/few.json" | string panels) == 2 ]] || fail "not 2 panels"

# A long run of two series: one leaks 5000 B a step from its 60th step on, the other makes one jump, which is none.
jq '.sweep.soak = [{label: "fp32 training with adam", batch: 4, samples: [range(0; 301) | [., 1e8 + 5000 * ([. - 60, 0] | max), 0]]},
                   {label: "fp32 inference", batch: 16, samples: [range(0; 301) | [., (if . < 100 then 2e8 else 2e8 + 81920 end), 0]]},
                   {label: "bf16 inference", batch: 16, samples: [[0, 1, 1], [1, 1, 1]]}, {label: "cut", samples: 3}, 7]
    | .findings += [{name: "memory_growth/fp32 training with adam", value: 5000, ci95: [4990, 5010],
                     details: {grows: true, first_step: 60, last_step: 300, steps_until_out_of_memory: 21345}},
                    {name: "memory_growth/fp32 inference", value: 341, ci95: [-430, 1112], details: {grows: false, first_step: 60, last_step: 300}}]' \
  "$example" > "$scratch/soak.json"
draw "$scratch/soak.json" "$scratch/soak"
holds "$scratch/soak" "Memory over a long run: what the system saw since the first step; dashed, the growth"
holds "$scratch/soak" "fp32 training with adam, batch 4: grows by 4.88 KiB a step (95 %: 4.87 KiB to 4.89 KiB), seen over 300 steps, out of memory after about 21,000 more"
holds "$scratch/soak" "fp32 inference, batch 16: steady over 300 steps, growth −430 B to 1.09 KiB a step"
holds "$scratch/soak" "bf16 inference, batch 16: 1 step is too few to tell growth from noise"
tables "$scratch/soak.json" > "$scratch/tables"
same "series drawn" 3 "$(string soaks < "$scratch/tables")"
same "the leak's end, in KiB" "$(jq -n '1200000 / 1024')" "$(table soak1 < "$scratch/tables" | tail -n 1 | cut -f 2)"
same "where its line begins" 60 "$(table soak_line1 < "$scratch/tables" | head -n 1 | cut -f 1)"
same "where its line ends" "$(jq -n '1200000 / 1024')" "$(table soak_line1 < "$scratch/tables" | tail -n 1 | cut -f 2)"
same "the jump" 80 "$(table soak2 < "$scratch/tables" | tail -n 1 | cut -f 2)"
[[ -z $(table soak_line3 < "$scratch/tables") ]] || fail "a line of growth without a finding"
lacks "$scratch/example" "Memory over a long run"

# Files with little in them.
jq 'del(.sweep.step_memory)' "$example" > "$scratch/bars.json"
draw "$scratch/bars.json" "$scratch/bars"
lacks "$scratch/bars" "Memory over one step"
jq 'del(.findings, .sweep, .context, .unmeasured) | .benchmarks |= [.[0] | del(.plan, .memory.peak_measured)]' "$example" > "$scratch/poor.json"
draw "$scratch/poor.json" "$scratch/poor"
holds "$scratch/poor" "fp32 inference"
jq '.benchmarks = []' "$example" > "$scratch/none.json"
draw "$scratch/none.json" "$scratch/none"
holds "$scratch/none" "No point was measured."
echo '{}' > "$scratch/empty.json"
draw "$scratch/empty.json" "$scratch/empty"
holds "$scratch/empty" "No point was measured."

expect_harmless_names_and_failures "$example"
finish
