#!/usr/bin/env bash
# plots/cards.gp on the result of a real run, and on variations of it.
#
#   tests/plots/cards_plot_test.sh SOURCE_FOLDER
#
# cards_example.json is of two ranks that train ResNet-18 on images of 64 pixels, with the machine's name and the fields that no
# picture shows taken out.
set -euo pipefail

source_folder=$1
example=$source_folder/tests/plots/cards_example.json
PLOT=cards
# shellcheck source=common.sh
source "$source_folder/tests/plots/common.sh"

draw "$example" "$scratch/example"
holds "$scratch/example" "Training on up to 2 ranks of An example device"
holds "$scratch/example" "batch 16 each"

# Each point stands at its own throughput and step, and without its wait below that.
tables "$example" > "$scratch/tables"
same "the number of marks" "$(jq '.benchmarks | length' "$example")" "$(table marks < "$scratch/tables" | wc -l)"
same "the throughput of two ranks" \
  "$(jq '[.benchmarks[] | select(.params.ranks == 2 and .params.batch == 16)][0] | 2 * 16 / .stats.median_ns * 1e9' "$example")" \
  "$(table marks < "$scratch/tables" | awk -F '\t' '$1 == 2 { r = $2 > r ? $2 : r } END { print r }' OFMT=%.17g)"
table marks < "$scratch/tables" | awk -F '\t' '$1 == 2 && !($8 < $5) { exit 1 }'
# Perfect scaling doubles the throughput of one rank.
table line1 < "$scratch/tables" | awk -F '\t' 'NR == 1 { one = $2 } NR == 2 && ($5 - 2 * one) ^ 2 > 1e-9 * one ^ 2 { exit 1 }'

# Strong scaling: the curves are of the batch in all.
jq '.sweep.axes.scaling = "strong" | .benchmarks |= map(select(.params.batch == 16) | .params.batch = 16 / .params.ranks)' "$example" > "$scratch/strong.json"
draw "$scratch/strong.json" "$scratch/strong"
holds "$scratch/strong" "batch 16 in all"

# Layers over ranks: the batch is of both ranks, and one rank belongs to each number of micro-batches.
jq '.sweep.axes += {scaling: "strong", split: "layers"} | .benchmarks |= (map(select(.params.batch == 16))
  | map(if .params.ranks == 2 then (.params += {split: "layers", "micro-batches": 1}), (.params += {split: "layers", "micro-batches": 4}) else . end))' \
  "$example" > "$scratch/layers.json"
draw "$scratch/layers.json" "$scratch/layers"
holds "$scratch/layers" "Layers over up to 2 ranks of An example device"
holds "$scratch/layers" "batch 16 in all, micro-batches: 4"
tables "$scratch/layers.json" > "$scratch/tables"
same "the ranks of the second curve" "1 2" "$(table line2 < "$scratch/tables" | cut -f 1 | paste -s -d ' ')"
same "the throughput of stages" \
  "$(jq '[.benchmarks[] | select(.params.ranks == 2)][0] | 16 / .stats.median_ns * 1e9' "$scratch/layers.json")" \
  "$(table line2 < "$scratch/tables" | awk -F '\t' '$1 == 2 { print $2 }')"

# Files with little in them.
jq 'del(.findings, .sweep, .context, .unmeasured) | .benchmarks |= [.[0] | del(.validity, .stats.ci95_ns, .notes)]' "$example" > "$scratch/poor.json"
draw "$scratch/poor.json" "$scratch/poor"
jq '.benchmarks = []' "$example" > "$scratch/none.json"
draw "$scratch/none.json" "$scratch/none"
echo '{}' > "$scratch/empty.json"
draw "$scratch/empty.json" "$scratch/empty"

expect_harmless_names_and_failures "$example"
finish
