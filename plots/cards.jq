# From a result file of the cards sweep to the strings and tables that cards.gp draws (format.jq: tables).
#
# Left: throughput by ranks, and what perfect scaling would give; right: what a step is made of. A mark is a measured point with
# its interval. Where ranks share out layers a batch is of all of them, and has a curve for each number of micro-batches, to
# which the point of one rank belongs as well. Missing fields give missing marks, never an error.

include "format";

def colours: [29362, 13983232, 40563, 13400487, 5670665];
def look: [7, 5, 9, 13, 15];
def middle: sort | if length == 0 then null else .[(length - 1) / 2 | floor] end;
# What even the rank that waits least waits, of a sample; the median.
def exposed: [(.notes // [])[] | objects | (.waited_ns // []) | map(number // 0) | min | number | select(. != null)] | middle;

def points: [(.benchmarks // [])[] | objects | . as $point
  | {ranks: (.params.ranks | positive), batch: (.params.batch | positive // 1),
     split: ((.params.split? // "") == "layers"), parts: (.params["micro-batches"]? | positive // 1), ns: (.stats.median_ns | positive),
     low: (.stats.ci95_ns[0]? | positive), high: (.stats.ci95_ns[1]? | positive), flags: flags, exposed: ($point | exposed // 0)}
  | select(.ranks != null and .ns != null)
  | .low = (.low // .ns) | .high = (.high // .ns)] | marked;

points as $points
| . as $document
| (($document.sweep.axes.scaling? // "weak") | tostring) as $scaling
| any($points[]; .split) as $split
| (if $scaling == "strong" then "in all" else "each" end) as $of
# Strong scaling shares a batch: its curves are of the batch in all.
| ($points | map(.samples = (if .split then .batch else .ranks * .batch end))
    | map(.size = (if $scaling == "strong" then .samples else .batch end))) as $points
| (if $split then [$points[] | select(.split)] | map(.parts) | unique else [1] end) as $parts
| $points as $once
# Each point in every curve that it belongs to.
| [$once[] | if $split then . as $own | (if .split then [.parts] else $parts end)[] | . as $n | $own | .size = "\($own.size) \($of), micro-batches: \($n)"
    else .size = "\(.size) \($of)" end] as $points
| (reduce $points[].size as $own ([]; if index([$own]) then . else . + [$own] end)) as $sizes
| def place: .size as $own | $sizes | index($own);
  def rate: .samples / .ns * 1e9;
  def perfect: . as $own | [$points[] | select(.ranks == 1 and place == ($own | place))][0] | if . then $own.ranks * rate else null end;
  ([$points[].ranks] | max // 1) as $most
| ($once | flag_notes + ($document | fates(""))) as $notes
| {strings: (around("\(if $split then "Layers over" else "Training on" end) up to \($most) ranks of \(device)";
       ([(.findings // [])[] | objects | select((.name // "" | tostring) == "cards")] | first // {}).claim; []; $notes)
     + {measured: ($once | length), x_max: $most, y_max: ([$points[] | .samples / .low * 1e9, (perfect // 0)] | max // 1), step_max: ([$points[] | .high / 1e6] | max // 1),
        batch_words: $of}
     + ($sizes | to_entries | map({name: "batch \(.value)", colour: colours[.key % 5], look: look[.key % 5]}) | numbered("key"))),
   marks: [$points[] | place as $i | [.ranks, rate, .samples / .high * 1e9, .samples / .low * 1e9, .ns / 1e6, .low / 1e6, .high / 1e6,
     (.ns - .exposed) / 1e6, colours[$i % 5], (look[$i % 5] - (if .open then 1 else 0 end))]]}
  + ([range($sizes | length) as $i | {key: "line\($i + 1)",
       value: ([$points[] | select(place == $i)] | sort_by(.ranks) 
         | map([.ranks, rate, .ns / 1e6, (.ns - .exposed) / 1e6, (perfect // "NaN")]))}] | from_entries)
| tables
