#!/usr/bin/env bash
# plots/evaluate.gp on an invented evaluation: the SVG holds its words as text, so they can be looked for.
#
#   tests/plots/evaluate_plot_test.sh SOURCE_FOLDER
set -euo pipefail

source_folder=$1
example=$source_folder/tests/plots/evaluate_example.json
PLOT=evaluate
# shellcheck source=common.sh
source "$source_folder/tests/plots/common.sh"

draw "$example" "$scratch/example"
holds "$scratch/example" "example inference: card_a @ {1}, card b"
holds "$scratch/example" "card b is 1.5× (1.2–1.8×) card_a @ {1} in fp16, at batch 4"
holds "$scratch/example" "Throughput in fp16"
holds "$scratch/example" "Throughput in fp32"
holds "$scratch/example" "band: 80 % (predicted), 95 % (measured) interval; ring: saturation batch"
holds "$scratch/example" "Memory in fp16"
holds "$scratch/example" "card_a @ {1}, predicted"
holds "$scratch/example" "Predicted, not measured: card_a @ {1}"
holds "$scratch/example" "104"  # the largest batches
holds "$scratch/example" "≈ 208"
holds "$scratch/example" "Cost of a million samples"
holds "$scratch/example" "1.25"
holds "$scratch/example" "2000-01-02 03:04"

# Each number reaches its table.
tables "$example" > "$scratch/tables"
same "card b's throughput in fp16 at batch 2" 180 "$(table rates1_2 < "$scratch/tables" | awk -F '\t' '$1 == 2 { print $2 }')"
same "card a's low end in fp32 at batch 4" 64 "$(table rates2_1 < "$scratch/tables" | awk -F '\t' '$1 == 4 { print $3 }')"
same "the ring of card b" 4 "$(table rings1 < "$scratch/tables" | awk -F '\t' '$3 == 13983232 { print $1 }')"
same "card a's memory at batch 4, in GiB" 0.75 "$(table sizes1 < "$scratch/tables" | awk -F '\t' '$1 == 4 { print $2 }')"
same "the end of card a's memory" 8 "$(table sizes1 < "$scratch/tables" | awk -F '\t' '$1 == 104 { print $2 }')"
same "the low end of card b's cost" 0.4 "$(table bars < "$scratch/tables" | awk -F '\t' '$6 == "card b" { print $3 }')"

# Without prices the bars are of energy, with a mark where the data sheet's power bounds it; without either there are none.
jq '.devices[].curves[].saturation.cost_per_million = null' "$example" > "$scratch/energy.json"
draw "$scratch/energy.json" "$scratch/energy"
holds "$scratch/energy" "Energy of a sample"
holds "$scratch/energy" "≤ 0.875"
holds "$scratch/energy" "Energy is an upper bound: by the data sheet’s power"
jq '.devices[].curves[].saturation |= (.cost_per_million = null | .joules_per_sample = null)' "$example" > "$scratch/neither.json"
draw "$scratch/neither.json" "$scratch/neither"
lacks "$scratch/neither" "Energy"

# A cost that the host's loader sets has no interval of the device.
jq '.devices[].curves[].saturation.limit = "loader"' "$example" > "$scratch/fed.json"
same "the low end of a fed device's cost" 0.5 "$(tables "$scratch/fed.json" | table bars | awk -F '\t' '$6 == "card b" { print $3 }')"
draw "$scratch/fed.json" "$scratch/fed"

# One device, one dtype, one point; more devices than colours; nothing.
jq '.devices |= [.[0]] | .devices[0].curves |= [.[1]] | .devices[0].curves[0].points |= [.[0]]' "$example" > "$scratch/one.json"
draw "$scratch/one.json" "$scratch/one"
lacks "$scratch/one" "Throughput in fp32"
jq '.devices = [range(9) as $i | .devices[0] | .label = "card \($i)"]' "$example" > "$scratch/many.json"
draw "$scratch/many.json" "$scratch/many"
holds "$scratch/many" "2 more devices in the file"
jq '.devices = []' "$example" > "$scratch/none.json"
draw "$scratch/none.json" "$scratch/none"
holds "$scratch/none" "No point was measured."
echo '{}' > "$scratch/empty.json"
draw "$scratch/empty.json" "$scratch/empty"

# Names that a shell or gnuplot would like to run are drawn, and not run; what cannot be read leaves no picture.
odd="$scratch/a'b \"c\" \$(touch $scratch/ran); touch ran"
mkdir -p "$(dirname "$odd")" && cp "$example" "$odd.json"
draw "$odd.json" "$odd"
[[ ! -e $scratch/ran ]] || fail "a file name was run as a command"
echo '{"devices": [' > "$scratch/broken.json"
! draw "$scratch/broken.json" "$scratch/broken" || fail "a broken file was drawn"
expect_its_own_prologue "$example"
finish
