#!/usr/bin/env bash
# plots/kernels.gp on the result of a real run, and on variations of it.
#
#   tests/plots/kernels_plot_test.sh SOURCE_FOLDER
#
# kernels_example.json is of `bench --sweep kernels` on a busy machine, with the machine's name and the fields that no
# picture shows taken out.
set -euo pipefail

source_folder=$1
example=$source_folder/tests/plots/kernels_example.json
PLOT=kernels
# shellcheck source=common.sh
source "$source_folder/tests/plots/common.sh"

draw "$example" "$scratch/example"
holds "$scratch/example" "Kernels on An example device_1 @ {2} GHz"
holds "$scratch/example" "2 cores · oneDNN 2.6.3 · 2000-01-02 03:04"
holds "$scratch/example" "What memory and caches deliver"
holds "$scratch/example" "Roofline, measured"
holds "$scratch/example" "memory: 20 GB/s"
holds "$scratch/example" "fp32: 79.1 GFLOP/s"
holds "$scratch/example" "bf16: 149 GFLOP/s"
for word in triad read copy gemm conv2d fma "stream: add, scale, triad, read"; do holds "$scratch/example" "$word<"; done
holds "$scratch/example" "○ open marks: wide 95 % interval (1 of 42 points)"
holds "$scratch/example" "✕ 3 points skipped, of conv2d fp32 (no time)"

# Each point stands at its own intensity and rate, and each stream kernel at its own bandwidth.
tables "$example" > "$scratch/tables"
# In the roofline stand the stream kernels that do arithmetic, all but copy, with their largest arrays: hot and cold.
[[ $(table dots < "$scratch/tables" | wc -l) == $(jq '[.benchmarks[] | select(.params.workload != "stream")] | length + 8' "$example") ]] ||
  fail "not every operation is drawn"
scale=$(jq -r '.benchmarks[] | select(.params.mode == "scale" and .params.caches == "hot") | .work.flops / .stats.median_ns * 1e9' "$example")
table dots < "$scratch/tables" | awk -F '\t' -v y="$scale" '$1 == 0.125 && $2 / y > 0.999999 && $2 / y < 1.000001 && $4 == 13 { found = 1 } END { exit !found }' ||
  fail "scale does not stand at one operation for 8 bytes"
gemm=$(jq -r '[.benchmarks[] | select(.params.workload == "gemm" and .params.dtype == "fp32" and .params.caches == "hot")][0]
  | [.work.flops / (.work.fixed_bytes + .work.sample_bytes), .work.flops / .stats.median_ns * 1e9] | @tsv' "$example")
table dots < "$scratch/tables" | awk -F '\t' -v x="${gemm%$'\t'*}" -v y="${gemm#*$'\t'}" \
  'function near(a, b) { return a / b > 0.999999 && a / b < 1.000001 } near($1, x) && near($2, y) { found = 1 } END { exit !found }' ||
  fail "the matrix product is not where it was measured"
triad=$(jq '[.benchmarks[] | select(.params.workload == "stream" and .params.mode == "triad" and .params.caches == "cold")] | length' "$example")
[[ $(table cold < "$scratch/tables" | awk -F '\t' '$3 == 29362' | wc -l) == "$triad" ]] || fail "not every cold triad is drawn"
# A roof has memory's slope and its dtype's peak.
for roof in "bf16: 149 GFLOP/s" "fp32: 79.1 GFLOP/s"; do
  key=$(table strings < "$scratch/tables" | awk -F '\t' -v name="$roof" '$2 == name { print $1 }')
  same "the slope of the roof of $roof" "$(jq '.findings[] | select(.name == "memory_bandwidth").value' "$example")" "$(string "${key}_slope" < "$scratch/tables")"
  same "the peak of the roof of $roof" "$(jq --arg name "arithmetic_peak/${roof%%:*}" '.findings[] | select(.name == $name).value' "$example")" \
    "$(string "${key}_peak" < "$scratch/tables")"
done

# A note of many points stays on the picture, some 165 characters wide, with its reason.
jq '.unmeasured = [range(0; 20) as $i | {params: {workload: "work\($i % 5)", dtype: "type\($i)"}, status: "skipped",
  reason: "the time budget of 15.0 s ended before it was timed; give a larger --time-budget"}]' "$example" > "$scratch/many.json"
draw "$scratch/many.json" "$scratch/many"
holds "$scratch/many" "✕ 20 points skipped, of work0, work1, work2, work3, work4 (the time budget of 15.0 s ended before it was timed; "
[[ $(tables "$scratch/many.json" | grep -P '^note\d' | cut -f 2 | wc -L) -le 165 ]] || fail "a note is too long for the picture"

# A flag and cold caches each show, by themselves and together: an open mark is one type below the filled one.
small=$(awk -F '\t' '$5 < 1' <(table dots < "$scratch/tables") | wc -l)
[[ $small == $(jq '[.benchmarks[] | select(.params.workload != "stream" and .params.caches == "cold")] | length + 4' "$example") ]] ||
  fail "$small marks are small"
mark() { # mark CACHES FLAGS [FLAGS OF ANOTHER POINT]: colour, type and size of the only product measured
  jq --arg caches "$1" --argjson flags "$2" --argjson others "${3:-[]}" '.benchmarks |= [(map(select(.params.workload == "gemm" and .params.dtype == "fp32"))[0]
    | .params.caches = $caches | .validity.flags = $flags), (map(select(.params.mode == "copy"))[0] | .validity.flags = $others)]' "$example" > "$scratch/mark.json"
  tables "$scratch/mark.json" | table dots | cut -f 3-5
}
[[ $(mark hot '[]') == 29362$'\t'7$'\t'1.4 ]] || fail "a hot mark: $(mark hot '[]')"
[[ $(mark hot '["noisy"]') == 29362$'\t'6$'\t'1.4 ]] || fail "a flagged mark: $(mark hot '["noisy"]')"
[[ $(mark cold '[]') == 8370392$'\t'7$'\t'0.8 ]] || fail "a cold mark: $(mark cold '[]')"
[[ $(mark cold '["noisy"]') == 8370392$'\t'6$'\t'0.8 ]] || fail "a cold, flagged mark: $(mark cold '["noisy"]')"
[[ $(mark hot '["noisy"]' '["noisy"]') == 29362$'\t'7$'\t'1.4 ]] || fail "a mark whose flag all have: $(mark hot '["noisy"]' '["noisy"]')"

# Headings explain what is drawn, and nothing else.
holds "$scratch/example" "solid, round: hot caches; dashed, square: cold"
holds "$scratch/example" "small, pale: cold caches"
jq '.benchmarks |= map(.validity.flags = ["noisy"])' "$example" > "$scratch/noisy.json"
draw "$scratch/noisy.json" "$scratch/noisy"
holds "$scratch/noisy" "all 42 points: wide 95 % interval"
lacks "$scratch/noisy" "open: flagged"
lacks "$scratch/noisy" "dotted"
# Nearly every mark open would separate nothing.
jq '.benchmarks |= map(.validity.flags = ["noisy"]) | .benchmarks[3].validity.flags = []' "$example" > "$scratch/nearly.json"
draw "$scratch/nearly.json" "$scratch/nearly"
holds "$scratch/nearly" "wide 95 % interval (41 of 42 points)"
lacks "$scratch/nearly" "open"
jq '.benchmarks |= (map(select(.params.caches == "hot")) | .[0].validity.flags = ["noisy"])' "$example" > "$scratch/hot.json"
draw "$scratch/hot.json" "$scratch/hot"
holds "$scratch/hot" "hot caches; open: flagged"
lacks "$scratch/hot" "cold"
jq '.findings |= map(select(.name != "memory_bandwidth"))' "$example" > "$scratch/rates.json"
draw "$scratch/rates.json" "$scratch/rates"
holds "$scratch/rates" "Rates of arithmetic, measured"
lacks "$scratch/rates" "Roofline"
lacks "$scratch/rates" "memory: "
# The slope ends at the highest ridge, where the last roof begins.
ridge=$(jq '[.findings[] | select(.name | startswith("arithmetic_peak/")) | .value] | max' "$example")
ridge=$(jq --argjson peak "$ridge" '$peak / (.findings[] | select(.name == "memory_bandwidth").value)' "$example")
for pair in memory:to bf16:from; do
  key=$(table strings < "$scratch/tables" | awk -F '\t' -v name="${pair%:*}: " 'index($2, name) == 1 { print $1; exit }')
  same "the ridge of the roof of ${pair%:*}" "$ridge" "$(string "${key}_${pair#*:}" < "$scratch/tables")"
done

# A curve leads past a point of which too little is known; its mark stays, a wide interval with a bar.
hot_triads='[.benchmarks | to_entries[] | select(.value.params | .workload == "stream" and .mode == "triad" and .caches == "hot") | .key]'
vague() { jq "$hot_triads[1] as \$i | .benchmarks[\$i] |= ($1)" "$example" > "$scratch/vague.json"; tables "$scratch/vague.json" > "$scratch/vague.tables"; }
triads() { table "$1" < "$2" | awk -F '\t' '$3 == 29362' | wc -l; }
curve=$(triads hot "$scratch/tables")
marks=$(triads marks "$scratch/tables")
vague '.stats.ci95_ns = [.stats.median_ns / 5, .stats.median_ns * 3] | .stats.median_ns *= 3'
same "the points of the curve past a wide interval" $((curve - 1)) "$(triads hot "$scratch/vague.tables")"
same "the marks of triad" "$marks" "$(triads marks "$scratch/vague.tables")"
same "the bars" 1 "$(table mark_bars < "$scratch/vague.tables" | wc -l)"
same "the bar's ends" 15 "$(table mark_bars < "$scratch/vague.tables" | awk -F '\t' '{ print $4 / $3 }')"
draw "$scratch/vague.json" "$scratch/vague"
holds "$scratch/vague" "bars: 95 % intervals that span more than a factor of 4, of 1 point"
holds "$scratch/vague" "no curve leads through 1 stream point with fewer than 3 rounds, or an interval that spans more than a factor of 4"
jq '.benchmarks |= map(.validity.flags = ["few_rounds"])' "$example" > "$scratch/rounds.json"
draw "$scratch/rounds.json" "$scratch/rounds"
holds "$scratch/rounds" "round: hot caches; square: cold"
lacks "$scratch/rounds" "no curve leads"
vague '.validity.flags = ["few_rounds"]'
same "the points of the curve past one of few rounds" $((curve - 1)) "$(triads hot "$scratch/vague.tables")"
same "the bars" 0 "$(table mark_bars < "$scratch/vague.tables" | wc -l)"
lacks "$scratch/example" "no curve leads"
jq '.benchmarks |= map(select(.params.workload == "fma") | .params.mode = "tensor-cores")' "$example" > "$scratch/cores.json"
draw "$scratch/cores.json" "$scratch/cores"
holds "$scratch/cores" "fma on tensor cores<"

# Our own convolution has a mark and a name of its own beside the library's.
jq '(.benchmarks[] | select(.params.workload == "conv2d" and .params.mode == "forward")).params.workload = "implicit_gemm"' "$example" > "$scratch/own.json"
draw "$scratch/own.json" "$scratch/own"
for word in conv2d implicit_gemm; do holds "$scratch/own" "$word<"; done
tables "$scratch/own.json" | table dots | cut -f 4 | sort -u | tr '\n' ' ' | grep --quiet '\b15 ' || fail "implicit_gemm has no mark of its own"

# The maker's figures, where the catalogue has the device.
jq '.context.device.datasheet = {bytes_per_s: 3.6e11, flops_per_s: {fp32: 1.27e13}}' "$example" > "$scratch/sheet.json"
draw "$scratch/sheet.json" "$scratch/sheet"
tables "$scratch/sheet.json" > "$scratch/sheet.tables"
[[ $(string makers < "$scratch/sheet.tables") == 2 ]] || fail "the maker's figures are not drawn"
same "the maker's peak" 1.27e13 "$(string maker1_peak < "$scratch/sheet.tables")"
same "the maker's bandwidth" 3.6e11 "$(string maker2_slope < "$scratch/sheet.tables")"
grep -q "dotted: maker.s figures" "$scratch/sheet.svg" || fail "the dotted lines are not explained"
[[ $(string makers < "$scratch/tables") == 0 ]] || fail "there are maker's figures of an unknown device"

# Files with little in them.
jq '.benchmarks |= map(select(.params.workload == "stream"))' "$example" > "$scratch/stream.json"
draw "$scratch/stream.json" "$scratch/stream"
holds "$scratch/stream" "stream: add, scale, triad, read<"
jq '.findings |= map(select(.name == "memory_bandwidth"))' "$scratch/stream.json" > "$scratch/slope.json"
draw "$scratch/slope.json" "$scratch/slope"
holds "$scratch/slope" "memory: 20 GB/s"
holds "$scratch/slope" "Roofline, measured"
tables "$scratch/slope.json" | table strings | awk -F '\t' '$1 == "roof1_slope" && $2 > 19e9 && $2 < 21e9 { slope = 1 }
  $1 == "roof1_peak" && $2 > 1e300 { open = 1 } END { exit !(slope && open) }' || fail "without a peak the roof is not memory's slope"
jq '.benchmarks |= map(select(.params.mode == "copy"))' "$example" > "$scratch/copy.json"
draw "$scratch/copy.json" "$scratch/copy"
holds "$scratch/copy" "No operation with arithmetic was measured."
jq '.benchmarks |= map(select(.params.workload == "gemm")) | .findings |= map(select(.name != "memory_bandwidth"))' "$example" > "$scratch/gemm.json"
draw "$scratch/gemm.json" "$scratch/gemm"
holds "$scratch/gemm" "No stream kernel was measured."
jq 'del(.findings, .sweep, .context, .unmeasured) | .benchmarks |= [.[0] | del(.validity)]' "$example" > "$scratch/poor.json"
draw "$scratch/poor.json" "$scratch/poor"
jq '.benchmarks = []' "$example" > "$scratch/none.json"
draw "$scratch/none.json" "$scratch/none"
holds "$scratch/none" "No point was measured."
echo '{}' > "$scratch/empty.json"
draw "$scratch/empty.json" "$scratch/empty"
holds "$scratch/empty" "No point was measured."

expect_harmless_names_and_failures "$example"
finish
