#!/usr/bin/env bash
# plots/collectives.gp on the result of a real run, and on variations of it.
#
#   tests/plots/collectives_plot_test.sh SOURCE_FOLDER
#
# collectives_example.json is of two ranks on a busy machine, with the machine's name and the fields that no picture shows
# taken out.
set -euo pipefail

source_folder=$1
example=$source_folder/tests/plots/collectives_example.json
PLOT=collectives
# shellcheck source=common.sh
source "$source_folder/tests/plots/common.sh"

draw "$example" "$scratch/example"
holds "$scratch/example" "Collectives between 2 ranks on An example device"
holds "$scratch/example" "All-reduce of 2 ranks on one host: latency 640 ± 200 ns, bus bandwidth 852 MB/s, half of it at 316 B"
holds "$scratch/example" "send-receive: latency 304 ns, 8.13 GB/s"

# Each point stands at its own size, time and bus bandwidth.
tables "$example" > "$scratch/tables"
same "the number of marks" "$(jq '.benchmarks | length' "$example")" "$(table marks < "$scratch/tables" | wc -l)"
of_four='.benchmarks |= map(.params.ranks = 4)'
jq "$of_four" "$example" > "$scratch/four.json"
draw "$scratch/four.json" "$scratch/four"
tables "$scratch/four.json" > "$scratch/four.tables"
for pair in "all-reduce 1.5 29362" "reduce-scatter 0.75 13983232" "all-gather 0.75 40563" "send-receive 1 13400487"; do
  read -r operation factor colour <<< "$pair"
  same "the bus bandwidth of $operation" \
    "$(jq "[.benchmarks[] | select(.params.operation == \"$operation\" and .params.bytes == 1048576)][0] | $factor * 1048576 / .stats.median_ns" "$example")" \
    "$(table marks < "$scratch/four.tables" | awk -F '\t' -v c="$colour" '$1 == 1048576 && $8 == c { print $5 }')"
done

# Several hosts are told apart.
jq '.benchmarks |= (. + (map(select(.params.operation == "send-receive")) | map(.params.hosts = 2)))' "$example" > "$scratch/hosts.json"
draw "$scratch/hosts.json" "$scratch/hosts"
holds "$scratch/hosts" "send-receive/hosts:2"
holds "$scratch/hosts" "Collectives between 2 ranks on 2 hosts"

# Files with little in them.
jq 'del(.findings, .sweep, .context, .unmeasured) | .benchmarks |= [.[0] | del(.validity, .stats.ci95_ns)]' "$example" > "$scratch/poor.json"
draw "$scratch/poor.json" "$scratch/poor"
jq '.benchmarks = []' "$example" > "$scratch/none.json"
draw "$scratch/none.json" "$scratch/none"
echo '{}' > "$scratch/empty.json"
draw "$scratch/empty.json" "$scratch/empty"

expect_harmless_names_and_failures "$example"
finish
