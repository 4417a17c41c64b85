#!/usr/bin/env bash
# plots/workers.gp on the result of a real run, and on variations of it.
#
#   tests/plots/workers_plot_test.sh SOURCE_FOLDER
#
# workers_example.json is of `bench --sweep workers --consumer 7ms --batch 8` on a busy machine, with the machine's name and
# the fields that no picture shows taken out.
set -euo pipefail

source_folder=$1
example=$source_folder/tests/plots/workers_example.json
PLOT=workers
# shellcheck source=common.sh
source "$source_folder/tests/plots/common.sh"

draw "$example" "$scratch/example"
holds "$scratch/example" "samples/s"
holds "$scratch/example" "Accelerator utilisation (AU); 1: a step takes as long as with ready data"
holds "$scratch/example" "marks: measured, with 95 % interval; line: simulated"
holds "$scratch/example" "dashed: the knee, 4 workers, measured; the simulation puts it at 2 workers"
holds "$scratch/example" "○ open marks: flagged (6 of 7 points)"
grep -q "workers, measured<\|worker, measured<" "$scratch/example.svg" || fail "the time line does not say where it is from"
holds "$scratch/example" "computing<"
for word in computes "waits for a batch" copies "makes a batch"; do holds "$scratch/example" "$word<"; done
holds "$scratch/example" "worker 0<"

# Each measured count stands at its own rate and AU.
tables "$example" > "$scratch/tables"
[[ $(table rates < "$scratch/tables" | wc -l) == $(jq '.sweep.measured | length' "$example") ]] || fail "not every count is drawn"
for workers in 0 1 2 4; do
  for pair in rates:images_per_s aus:au; do
    same "${pair#*:} of $workers workers" \
      "$(jq ".sweep.measured[] | select(.workers == $workers) | .${pair#*:}" "$example")" \
      "$(table "${pair%:*}" < "$scratch/tables" | awk -F '\t' -v x="$workers" '$1 == x { print $2 }')"
  done
done
same "the simulated AU of 1 worker" "$(jq '.sweep.simulated.points[] | select(.workers == 1) | .au' "$example")" \
  "$(table au_line < "$scratch/tables" | awk -F '\t' '$1 == 1 { print $2 }')"
same "the knee" "$(jq '.findings[] | select(.name == "knee") | .value' "$example")" "$(string knee < "$scratch/tables")"
# Few counts all have their name below the axis; of many, only powers of two: others would lie on each other.
[[ $(table ticks < "$scratch/tables" | cut -f 1 | tr '\n' ' ') == "0 1 2 3 4 5 6 7 8 " ]] || fail "a count has no name"
jq '.sweep.measured |= [range(0; 17) as $w | .[1] | .workers = $w]' "$example" > "$scratch/counts.json"
draw "$scratch/counts.json" "$scratch/counts"
[[ $(tables "$scratch/counts.json" | table ticks | cut -f 2 | tr '\n' ' ') == "0 1 2 4 8 16 " ]] || fail "many counts have other names"

# Demands: within the picture a line with its name in the key, far above it a note.
jq '([.sweep.measured[].images_per_s] | max) as $most | .sweep.simulated.demands = [
  {name: "near", images_per_s: (1.2 * $most)}, {name: "same", images_per_s: (1.21 * $most)}, {name: "far", images_per_s: (50 * $most)}]' \
  "$example" > "$scratch/demands.json"
draw "$scratch/demands.json" "$scratch/demands"
holds "$scratch/demands" "near: "
holds "$scratch/demands" "same: "
holds "$scratch/demands" "required throughput above the picture: far "
# Simulated only: no mark, and it says so.
jq 'del(.sweep.measured) | .benchmarks = [] | .findings |= map(select(.name == "knee_simulated"))' "$example" > "$scratch/simulated.json"
draw "$scratch/simulated.json" "$scratch/simulated"
holds "$scratch/simulated" "line: simulated"
holds "$scratch/simulated" "dashed: the knee, 2 workers, simulated"
grep -q "workers, simulated<\|worker, simulated<" "$scratch/simulated.svg" || fail "the time line is not called simulated"
lacks "$scratch/simulated" "measured"

# The key has what the steps show.
jq '(.benchmarks[].notes[]?.timeline | arrays) |= map(select(.what != "wait"))' "$example" > "$scratch/fed.json"
draw "$scratch/fed.json" "$scratch/fed"
lacks "$scratch/fed" "waits for a batch"
# Flags are of the points; one that all have leaves the marks filled.
jq '.benchmarks |= map(.validity.flags = ["few_rounds"])' "$example" > "$scratch/few.json"
draw "$scratch/few.json" "$scratch/few"
holds "$scratch/few" "all 7 points: fewer than 3 rounds"
[[ $(tables "$scratch/few.json" | table rates | cut -f 5 | sort -u) == 7 ]] || fail "a flag of all opens marks"
[[ $(table rates < "$scratch/tables" | awk -F '\t' '$5 == 7 { print $1 }') == 4 ]] || fail "not the one point without a flag is filled"

# Points with one fate share a note, also where numbers in their reasons differ.
jq '.unmeasured = [range(0; 4) | {status: "skipped", reason: "preparing it takes 1.\(.) s, and \(. * 100) ms are left"}]' "$example" > "$scratch/fates.json"
draw "$scratch/fates.json" "$scratch/fates"
holds "$scratch/fates" "✕ 4 points skipped (preparing it takes 1.0 s, and 0 ms are left)"

# Files with little in them.
jq '.sweep.measured |= map(del(.au, .au_ci95)) | del(.sweep.simulated)' "$example" > "$scratch/no_au.json"
draw "$scratch/no_au.json" "$scratch/no_au"
holds "$scratch/no_au" "No AU: computing with ready data was not measured."
jq 'del(.findings, .context, .unmeasured, .sweep.profile, .sweep.loader, .sweep.simulated) | .sweep.measured |= [.[0] | del(.images_per_s_ci95, .au_ci95)]
  | .benchmarks[].notes[].timeline? |= null' "$example" > "$scratch/poor.json"
draw "$scratch/poor.json" "$scratch/poor"
holds "$scratch/poor" "No step's time line was kept."
jq '.benchmarks = [] | del(.sweep.measured, .sweep.simulated)' "$example" > "$scratch/none.json"
draw "$scratch/none.json" "$scratch/none"
holds "$scratch/none" "No point was measured."
echo '{}' > "$scratch/empty.json"
draw "$scratch/empty.json" "$scratch/empty"
holds "$scratch/empty" "No point was measured."

expect_harmless_names_and_failures "$example"
finish
