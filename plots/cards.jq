# From a result file of the cards sweep to the strings and tables that cards.gp draws (format.jq: tables).
#
# Left: throughput by ranks, and what perfect scaling would give; right: what a step is made of. A mark is a measured point with
# its interval. Missing fields give missing marks, never an error.

include "format";

def colours: [29362, 13983232, 40563, 13400487, 5670665];
def look: [7, 5, 9, 13, 15];
def middle: sort | if length == 0 then null else .[(length - 1) / 2 | floor] end;
# What even the rank that waits least waits, of a sample; the median.
def exposed: [(.notes // [])[] | objects | (.waited_ns // []) | map(number // 0) | min | number | select(. != null)] | middle;

def points: [(.benchmarks // [])[] | objects | . as $point
  | {ranks: (.params.ranks | positive), batch: (.params.batch | positive // 1), ns: (.stats.median_ns | positive),
     low: (.stats.ci95_ns[0]? | positive), high: (.stats.ci95_ns[1]? | positive), flags: flags, exposed: ($point | exposed // 0)}
  | select(.ranks != null and .ns != null)
  | .low = (.low // .ns) | .high = (.high // .ns)] | marked;

points as $points
| . as $document
| (($document.sweep.axes.scaling? // "weak") | tostring) as $scaling
# Strong scaling shares a batch: its curves are of the batch in all.
| ($points | map(.size = (if $scaling == "strong" then .ranks * .batch else .batch end))) as $points
| (reduce $points[].size as $own ([]; if index([$own]) then . else . + [$own] end)) as $sizes
| def place: .size as $own | $sizes | index($own);
  def rate: .ranks * .batch / .ns * 1e9;
  def perfect: . as $own | [$points[] | select(.ranks == 1 and place == ($own | place))][0] | if . then $own.ranks * rate else null end;
  ([$points[].ranks] | max // 1) as $most
| ($points | flag_notes + ($document | fates(""))) as $notes
| {strings: (around("Training on up to \($most) ranks of \(device)";
       ([(.findings // [])[] | objects | select((.name // "" | tostring) == "cards")] | first // {}).claim; []; $notes)
     + {measured: ($points | length), x_max: $most, y_max: ([$points[] | .ranks * .batch / .low * 1e9, (perfect // 0)] | max // 1), step_max: ([$points[] | .high / 1e6] | max // 1),
        batch_words: (if $scaling == "strong" then "in all" else "each" end)}
     + ($sizes | to_entries | map({name: "batch \(.value) \(if $scaling == "strong" then "in all" else "each" end)", colour: colours[.key % 5], look: look[.key % 5]}) | numbered("key"))),
   marks: [$points[] | place as $i | [.ranks, rate, .ranks * .batch / .high * 1e9, .ranks * .batch / .low * 1e9, .ns / 1e6, .low / 1e6, .high / 1e6,
     (.ns - .exposed) / 1e6, colours[$i % 5], (look[$i % 5] - (if .open then 1 else 0 end))]]}
  + ([range($sizes | length) as $i | {key: "line\($i + 1)",
       value: ([$points[] | select(place == $i)] | sort_by(.ranks) 
         | map([.ranks, rate, .ns / 1e6, (.ns - .exposed) / 1e6, (perfect // "NaN")]))}] | from_entries)
| tables
