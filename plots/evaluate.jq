# From an evaluation (bench evaluate) to the strings and tables that evaluate.gp draws (format.jq: tables).
# Missing fields give missing marks, never an error.

include "format";

# Okabe and Ito's palette: as many devices as it tells apart.
def palette: [29362, 13983232, 40563, 13400487, 15113984, 5682409, 5592405];
def shapes: [7, 5, 9, 13, 11, 15, 3];

def curve_in($dtype): [(.curves // [])[] | objects | select(.dtype == $dtype)] | first // {};
def ends: [.interval[]? | positive] | if length == 2 and all(.[]; . != null) then . else null end;
# [batch, rate, low, high]; without an interval it has no width.
def rates_of($curve; $scale): [($curve.points // [])[] | objects | (.batch | positive) as $batch | (.per_s | positive) as $rate
  | select($batch != null and $rate != null) | (ends // [$rate, $rate]) as $ends
  | [$batch, $rate / $scale.by, $ends[0] / $scale.by, $ends[1] / $scale.by]];
def sizes_of($curve): [($curve.points // [])[] | objects | [(.batch | positive), (.bytes | positive)] | select(all(.[]; . != null)) | [.[0], .[1] / 1073741824]];

# What the bars show: a member at saturation, with its words.
def measures($currency): [
  {key: "cost_per_million", title: "Cost of a million samples", unit: (if $currency == "" then "cost" else $currency end)},
  {key: "joules_per_sample", title: "Energy of a sample", unit: "J"}];

. as $file | (.dtype // "fp32" | clean) as $main
| [(.devices // [])[] | objects | {label: (.label // "?" | clean), predicted: (.predicted == true), usable: (.usable_bytes | positive), device: .}] as $all
| ($all[:palette | length]) as $devices | ($all | length - ($devices | length)) as $more
| ([$devices[].device.curves[]?.dtype | tostring] | unique) as $dtypes
# The headlines' dtype, and one to compare it with.
| ([$main, ([$dtypes[] | select(. != $main)] | sort_by(dtype_rank) | first)] | map(values) | unique | sort_by(. != $main)) as $shown
| ([$devices[].device.curves[]?.points[]? | (ends // [null, .per_s]) | .[1] | positive // 0] | max // 1) as $best
| ($best | if . > 0 then . else 1 end | scale_of) as $scale
| [$shown[] as $dtype | {dtype: $dtype, curves: [$devices[] | . as $d | .device | curve_in($dtype) | {curve: ., rates: rates_of(.; $scale), label: $d.label}]}] as $panels
| [$devices[] | .usable as $usable | .device | curve_in($main) | {curve: ., sizes: sizes_of(.), usable: ($usable // 0 | . / 1073741824),
    largest: (.largest_batch | positive)}] as $memory
| [measures($file.currency // "" | clean)[] | . as $m | [$devices | to_entries[] | .key as $i | .value as $d | ($d.device | curve_in($main) | .saturation // {}) as $at
    | ($at[$m.key] | positive) as $value | select($value != null) | ($at | ends) as $ends | ($at.per_s | positive) as $rate
    | ($m.key == "cost_per_million" and ($at.limit == "loader" or $at.limit == "bus")) as $fed
    | {i: $i, label: $d.label, value: $value, at_most: ($m.key == "joules_per_sample" and $at.power_measured == false),
       low: (if $ends == null or $rate == null or $fed then $value else $value * $rate / $ends[1] end),
       high: (if $ends == null or $rate == null or $fed then $value else $value * $rate / $ends[0] end)}] | {m: $m, bars: .} | select(.bars != [])] as $measures
| ($measures | first // {m: {}, bars: []}) as $bars
| ([$panels[].curves[].rates[] | .[0]] | unique) as $batches
| ([$memory[].sizes[] | .[1]] | min // 1) as $least
| (if all($devices[]; .predicted) then "80 %" elif any($devices[]; .predicted) then "80 % (predicted), 95 % (measured)" else "95 %" end) as $level
| ((.workload // "workload?" | clean) + " " + ({infer: "inference", train: "training"}[.mode // ""] // (.mode // "" | clean))) as $task
| [(if $more > 0 then "\($more) more device\(if $more == 1 then "" else "s" end) in the file" else empty end),
   (if any($devices[]; .predicted) then "Predicted, not measured: \([$devices[] | select(.predicted) | .label] | join(", "))" else empty end),
   (if any($bars.bars[]; .at_most) then "Energy is an upper bound: by the data sheet's power" else empty end)] as $notes
| {strings: (around("\($task)\(if $devices != [] and all($devices[]; .predicted) then ", predicted" else "" end): \([$devices[].label] | join(", "))"; ([(.answers // [])[] | objects | select(.headline == 1)] | first // {} | .claim); []; $notes)
    + {measured: ([$panels[].curves[].rates[]] | length), level: $level, batch_min: ($batches | first // 1), batch_max: ($batches | last // 1),
       rate_unit: "samples per second\($scale.words)", rate_top: ([$panels[].curves[].rates[] | .[3]] | max // 1),
       memories: (if any($memory[]; .sizes != []) then 1 else 0 end), memory_dtype: $main,
       size_min: $least, size_max: ([$memory[] | .usable, (.sizes[] | .[1])] | max // 1),
       reach: ([$memory[].largest // empty, ($batches | last // 1)] | max),
       bar_sets: (if $bars.bars == [] then 0 else 1 end), bar_title: ($bars.m.title // ""), bar_unit: ($bars.m.unit // ""),
       bar_top: ([$bars.bars[].high] | max // 1), crowded: (if ($bars.bars | length) > 3 or any($bars.bars[]; .label | length > 14) then 1 else 0 end)}
    + ($panels | map({name: .dtype}) | numbered("panel"))
    + ($devices | to_entries | map({name: .value.label, colour: palette[.key], shape: (shapes[.key] - (if .value.predicted then 1 else 0 end)),
        cap: (.value.usable // 0 | . / 1073741824),
        legend: (.value.label + (if .value.predicted then ", predicted" else "" end))}) | numbered("device"))),
   bars: [$bars.bars | to_entries[] | .key as $at | .value | [$at, .value, .low, .high, palette[.i], .label, ((if .at_most then "≤ " else "" end) + (.value | figures(3)))]],
   saturation: [], fits: [$memory | to_entries[] | select(.value.largest != null and .value.usable > 0)
     | [.value.largest, .value.usable, palette[.key], ((if .value.curve.largest_extrapolated == true then "≈ " else "" end) + (.value.largest | thousands))]]}
  + ([range($panels | length) as $p | range($devices | length) as $d | {key: "rates\($p + 1)_\($d + 1)", value: $panels[$p].curves[$d].rates}] | from_entries)
  + ([range($panels | length) as $p | {key: "rings\($p + 1)", value: [$panels[$p].curves | to_entries[] | (.value.curve.saturation // {}) as $at
      | select(($at.batch | positive) != null and ($at.per_s | positive) != null) | [$at.batch, $at.per_s / $scale.by, palette[.key]]]}] | from_entries)
  + ([range($devices | length) as $d | {key: "sizes\($d + 1)", value: ($memory[$d].sizes
      + (if $memory[$d].largest != null and $memory[$d].usable > 0 and $memory[$d].largest > ([$memory[$d].sizes[] | .[0]] | max // 0) then [[$memory[$d].largest, $memory[$d].usable]] else [] end))}] | from_entries)
| del(.saturation) | tables
