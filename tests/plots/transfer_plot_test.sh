#!/usr/bin/env bash
# plots/transfer.gp on the result of a real run, and on variations of it.
#
#   tests/plots/transfer_plot_test.sh SOURCE_FOLDER
#
# transfer_example.json is of `bench --sweep transfer` on a busy machine, with the machine's name and the fields that no
# picture shows taken out.
set -euo pipefail

source_folder=$1
example=$source_folder/tests/plots/transfer_example.json
PLOT=transfer
# shellcheck source=common.sh
source "$source_folder/tests/plots/common.sh"

draw "$example" "$scratch/example"
holds "$scratch/example" "Copies between the host and An example device_1 @ {2} GHz"
holds "$scratch/example" "no bus was crossed: copies within the host’s memory · 2 cores · 2000-01-02 03:04"
holds "$scratch/example" "Host to device"
holds "$scratch/example" "Device to host"
for word in pinned pageable staged; do holds "$scratch/example" "$word<"; done
holds "$scratch/example" "A step of resnet18 infer, fp32, batch 4, 2.3 MiB to copy"
grep -q "on’t pin: a step of resnet18" "$scratch/example.svg" || fail "the verdict is missing"
lacks "$scratch/example" "kiB"

# Each plain point stands at its own size and bandwidth; cold pages and several at once are not among them.
tables "$example" > "$scratch/tables"
for direction in h2d d2h; do
  [[ $(table marks_$direction < "$scratch/tables" | wc -l) == $(jq --arg d $direction '[.benchmarks[] | select(.params.direction == $d
    and .params["in-flight"] == 1 and .params.pages == "touched")] | length' "$example") ]] || fail "not every copy $direction is drawn"
done
same "the bandwidth of a copy" \
  "$(jq '[.benchmarks[] | select(.name == "transfer/h2d/pinned/bytes:1048576")][0] | .work.sample_bytes / .stats.median_ns' "$example")" \
  "$(table marks_h2d < "$scratch/tables" | awk -F '\t' '$1 == 1048576 && $5 == 29362 { print $2 }')"
# The line is the model's: at the smallest size, latency and all.
same "the model's first point" \
  "$(jq '[.findings[] | select(.name == "model/h2d/pinned")][0].details | 1024 / (.latency_ns + 1024 / .bytes_per_s * 1e9)' "$example")" \
  "$(table lines_h2d < "$scratch/tables" | awk -F '\t' '$3 == 29362 { print $2; exit }')"
# A line ends at its kind's last mark.
jq '.benchmarks |= map(select((.params["host-memory"] == "staged" and .params.bytes > 65536) | not))' "$example" > "$scratch/short.json"
draw "$scratch/short.json" "$scratch/short"
tables "$scratch/short.json" > "$scratch/short.tables"
for pair in 40563:65536 29362:268435456; do
  same "where the line of colour ${pair%:*} ends" "${pair#*:}" "$(table lines_h2d < "$scratch/short.tables" | awk -F '\t' -v c="${pair%:*}" '$3 == c { x = $1 } END { print x }')"
done
# An interval that reaches anywhere does not flatten the others.
jq '.benchmarks[0].stats.ci95_ns[0] = 0.001 | .benchmarks[0].stats.ci95_ns[1] = 1e12' "$example" > "$scratch/wide.json"
draw "$scratch/wide.json" "$scratch/wide"
tables "$scratch/wide.json" | table strings | awk -F '\t' '$1 == "y_min_h2d" && $2 > 0.01 { low = 1 } $1 == "y_max_h2d" && $2 < 1000 { high = 1 } END { exit !(low && high) }' ||
  fail "an interval stretches the axis"
# Each size is drawn by its own piece, also beyond a breakpoint.
jq '.findings |= map(if .name == "model/h2d/pinned" then .details.pieces = [{latency_ns: 100, bytes_per_s: 1e9, to_bytes: 65536},
  {latency_ns: 5000, bytes_per_s: 4e9}] else . end)' "$example" > "$scratch/pieces.json"
draw "$scratch/pieces.json" "$scratch/pieces"
tables "$scratch/pieces.json" | table lines_h2d | awk -F '\t' '$3 == 29362' > "$scratch/pieces.lines"
same "the first piece's first point" "$(jq -n '1024 / (100 + 1024)')" "$(head -1 "$scratch/pieces.lines" | cut -f 2)"
same "the last piece's last point" "$(jq -n "$(tail -1 "$scratch/pieces.lines" | cut -f 1) | . / (5000 + . / 4)")" \
  "$(tail -1 "$scratch/pieces.lines" | cut -f 2)"
# Its key names the line's start and its end, as the finding does.
jq '.findings |= map(if .name == "model/h2d/pinned" then .details += {latency_ns: 100, bytes_per_s: 4e9} else . end)' "$scratch/pieces.json" > "$scratch/named.json"
draw "$scratch/named.json" "$scratch/named"
holds "$scratch/named" "pinned: latency 100 ns, 4 GB/s"
holds "$scratch/example" "pinned: latency 856 ns, 21.7 GB/s"
# A piece that hardly grows has a slope only; at the end it leaves no rate to name.
jq '.findings |= map(if .name == "model/h2d/pinned" then .details = {latency_ns: 100, pieces: [{latency_ns: 100, bytes_per_s: 1e9, ns_per_byte: 1,
  to_bytes: 65536}, {latency_ns: 65636, ns_per_byte: 0}]} else . end)' "$example" > "$scratch/flat.json"
draw "$scratch/flat.json" "$scratch/flat"
holds "$scratch/flat" "pinned: latency 100 ns, rate unknown"
tables "$scratch/flat.json" | table lines_h2d | awk -F '\t' '$3 == 29362' > "$scratch/flat.lines"
same "the flat piece's last point" "$(jq -n "$(tail -1 "$scratch/flat.lines" | cut -f 1) | . / 65636")" "$(tail -1 "$scratch/flat.lines" | cut -f 2)"
# The bars: two a kind, as high as the steps.
[[ $(table steps < "$scratch/tables" | awk -F '\t' '$3 > 0 && $7 > 0' | wc -l) == 3 ]] || fail "there are not two bars a kind"
case $(string steps_unit < "$scratch/tables") in s) unit=1e9 ;; ms) unit=1e6 ;; *) unit=1e3 ;; esac
same "a step's time" "$(jq ".sweep.transfer.steps[0].kinds[0].serial.median_ns / $unit" "$example")" \
  "$(table steps < "$scratch/tables" | head -1 | cut -f 3)"

# A card: the bus's limit and the crossover are drawn.
jq '.sweep.transfer.crosses_bus = true | .context.device.pcie = "gen4 x16"
  | .findings |= map(if .name == "bus" then .value = 31.5e9 elif .name == "crossover/h2d/pinned" then .value = 65536 else . end)' \
  "$example" > "$scratch/card.json"
draw "$scratch/card.json" "$scratch/card"
holds "$scratch/card" "the bus: 31.5 GB/s"
holds "$scratch/card" "pinned faster from 64 KiB on"
grep -q "PCIe gen4 x16" "$scratch/card.svg" || fail "the link is not named"
lacks "$scratch/example" "the bus:"

# Both ways at once have a panel of their own where they were measured; the bus carries twice as much then.
jq '.benchmarks |= (. + (map(select(.params.direction == "d2h")) | map(.params.direction = "both" | .work.sample_bytes *= 2)))
  | .findings |= (. + (map(select(.name == "model/d2h/pinned")) | map(.name = "model/both/pinned" | .details.moved_per_byte = 2)))' \
  "$scratch/card.json" > "$scratch/both.json"
draw "$scratch/both.json" "$scratch/both"
holds "$scratch/both" "Both at once, bytes of both ways counted"
holds "$scratch/both" "the bus, both ways: 63 GB/s"
lacks "$scratch/card" "Both at once"
tables "$scratch/both.json" > "$scratch/both.tables"
same "the bandwidth of copies both ways" \
  "$(jq '[.benchmarks[] | select(.params.direction == "both" and .params["host-memory"] == "pinned" and .params.bytes == 1048576
    and .params["in-flight"] == 1)][0] | .work.sample_bytes / .stats.median_ns' "$scratch/both.json")" \
  "$(table marks_both < "$scratch/both.tables" | awk -F '\t' '$1 == 1048576 && $5 == 29362 { print $2 }')"
same "the model's first point, both ways" \
  "$(jq '[.findings[] | select(.name == "model/both/pinned")][0].details | 2 * 1024 / (.latency_ns + 1024 / .bytes_per_s * 1e9)' "$scratch/both.json")" \
  "$(table lines_both < "$scratch/both.tables" | awk -F '\t' '$3 == 29362 { print $2; exit }')"

# Files with little in them.
jq '.benchmarks |= map(select(.params.direction == "h2d")) | del(.sweep.transfer.steps)' "$example" > "$scratch/up.json"
draw "$scratch/up.json" "$scratch/up"
holds "$scratch/up" "No copy to the host was measured."
holds "$scratch/up" "No workload's steps were measured."
jq '.sweep.transfer.steps[0].kinds |= map(if .host_memory == "pageable" then . else {host_memory, unsupported: "no"} end)' "$example" > "$scratch/limit.json"
draw "$scratch/limit.json" "$scratch/limit"
[[ $(tables "$scratch/limit.json" | table steps | wc -l) == 1 ]] || fail "what was not measured has a bar"
jq 'del(.findings, .sweep, .context, .unmeasured) | .benchmarks |= [.[0] | del(.validity, .stats.ci95_ns)]' "$example" > "$scratch/poor.json"
draw "$scratch/poor.json" "$scratch/poor"
jq '.benchmarks = []' "$example" > "$scratch/none.json"
draw "$scratch/none.json" "$scratch/none"
holds "$scratch/none" "No point was measured."
echo '{}' > "$scratch/empty.json"
draw "$scratch/empty.json" "$scratch/empty"
holds "$scratch/empty" "No point was measured."

# Of a device that is not here.
jq 'del(.sweep.transfer) | .benchmarks = [] | .context.device = {id: "t4", name: "Tesla T4", kind: "modelled", framework: "pytorch"}
  | .findings = [{name: "input/batch:1", value: 0.2, claim: "Predicted: one."}, {name: "input/batch:32", value: 0.4, claim: "Predicted: many."},
                 {name: "bus", value: 1e9, claim: "Predicted: the bus."}]
  | .predicted = [(32, 1) | {params: {batch: .}, real_time: (2e6 * .), interval80_ns: [1e6 * ., 4e6 * .], memory: {input: (1e5 * .)}}]' \
  "$example" > "$scratch/predicted.json"
draw "$scratch/predicted.json" "$scratch/predicted"
holds "$scratch/predicted" "Predicted: many"
holds "$scratch/predicted" "copy at the bus’s 1 GB/s"
holds "$scratch/predicted" "predicted for pytorch"
same "the copy of batch 32, in ms" 3.2 "$(tables "$scratch/predicted.json" | table predicted | awk -F '\t' '$1 == 32 { print $5 }')"

expect_harmless_names_and_failures "$example"
finish
