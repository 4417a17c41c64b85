# From a result file of the transfer sweep to the strings and tables that transfer.gp draws (format.jq: tables).
#
# Above: bandwidth against the size of a copy, to the device, to the host and, where it was measured, both at once; a mark
# a measured point and a line a fitted model. Below: a workload's step, with the copy before its computing and overlapped
# with it. Missing fields give missing marks, never an error.

include "format";

def kinds: ["pinned", "pageable", "staged"];
def kind_colour: {pinned: 29362, pageable: 13983232, staged: 40563}[tostring] // 5592405;
def rate_text: if . >= 1e9 then "\(. / 1e9 | figures(3)) GB/s" elif . >= 1e6 then "\(. / 1e6 | figures(3)) MB/s" else "\(. / 1e3 | figures(3)) kB/s" end;

def points: [(.benchmarks // [])[] | objects
  | {direction: (.params.direction // "?" | clean), kind: (.params["host-memory"] // "?" | clean), bytes: (.params.bytes | positive),
     ns: (.stats.median_ns | positive), low: (.stats.ci95_ns[0]? | positive), high: (.stats.ci95_ns[1]? | positive), moved: (.work.sample_bytes | positive),
     plain: ((.params["in-flight"] // 1) == 1 and (.params.pages // "touched") != "cold"), flags: flags}
  | select(.bytes != null and .ns != null and .moved != null)] | marked;
# A piece that hardly grows has a slope, but no rate.
def slope: (.ns_per_byte | number) // (.bytes_per_s | positive | if . == null then null else 1e9 / . end);
def model($direction; $kind): finding("model/\($direction)/\($kind)") | .details // {}
  | {latency: (.latency_ns | number), rate: (.bytes_per_s | positive), slope: slope, moved: (.moved_per_byte | positive // 1),
     pieces: [(.pieces // [])[] | objects | {latency: (.latency_ns | number), slope: slope, to: (.to_bytes | positive)} | select(.latency != null and .slope != null)]}
  | select(.latency != null and (.slope != null or .pieces != []));
# GB/s that a model gives for a copy of so many bytes, by the piece it belongs to; nothing where it would take
# no time.
def modelled($bytes): ([.pieces[] | select(.to == null or $bytes <= .to)] | first // null) as $piece
  | (($piece // .) | if .slope == null then 0 else .latency + $bytes * .slope end) as $ns | if $ns > 0 then $bytes * .moved / $ns else null end;
# "latency 443 ns, 19.9 GB/s": the line's start and its end.
def model_text: "latency \([.latency, 0] | max | duration), " + (if .rate == null then "rate unknown" else "\(.rate | rate_text)\(if .moved > 1 then " each way" else "" end)" end);

# One direction's panel; its names end in the direction.
def panel($points; $direction; $bus): . as $document
  | (if $bus == null then null elif $direction == "both" then 2 * $bus else $bus end) as $limit
  | [$points[] | select(.direction == $direction and .plain)] as $own
  | ([$own[].bytes] | min // 1024) as $first | ([$own[].bytes] | max // 1048576) as $last
  | [kinds[] as $kind | $document | model($direction; $kind) | . + {kind: $kind}] as $models
  | ($document | finding("crossover/\($direction)/pinned") | .value | positive) as $crossover
  | [$own[] | .moved / .ns] as $medians
  # An interval of hardly any samples may reach anywhere: it leaves the picture rather than flatten it.
  | ({least: ([([$own[] | .moved / (.high // .ns)] | min), ($medians | min // 0.3) / 3] | max),
     most: ([([$own[] | .moved / (.low // .ns)] | max // 10), 3 * ($medians | max // 10)] | min)}
  | .most = ([.most, ($limit // 0) / 1e9] | max) | .least = ([.least, ($limit // infinite) / 1e9] | min)) as $rates
  | {strings: ({"measured_\($direction)": ($own | length), "x_min_\($direction)": $first, "x_max_\($direction)": $last,
       "y_min_\($direction)": $rates.least, "y_max_\($direction)": $rates.most, "limit_\($direction)": (($limit // 0) / 1e9), "crossover_\($direction)": ($crossover // 0),
       "limit_text_\($direction)": (if $limit == null then "" else "the bus\(if $direction == "both" then ", both ways" else "" end): \($limit | rate_text)" end),
       "crossover_text_\($direction)": (if $crossover == null then "" else "pinned faster from \($crossover | bytes_text) on" end)}
       + ([kinds[] as $kind | {key: "key_\($direction)_\($kind)",
            value: (if any($own[]; .kind == $kind) then ([$models[] | select(.kind == $kind)] | first) as $m
              | "\($kind)\(if $m == null then "" else ": \($m | model_text)" end)" else "" end)}] | from_entries)),
     # From the kind's first mark to its last: nothing is known beyond.
     "lines_\($direction)": [$models[] | . as $model | [$own[] | select(.kind == $model.kind) | .bytes] | select(length > 0) | min as $from | max as $to
       | (range(0; 61) as $i | (if $i == 60 then $to else $from * pow($to / $from; $i / 60) end) as $bytes | ($model | modelled($bytes)) as $rate
           | if $rate == null then empty else [$bytes, $rate, ($model.kind | kind_colour)] end), null],
     "marks_\($direction)": [$own[] | [.bytes, .moved / .ns, .moved / (.high // .ns), .moved / (.low // .ns), (.kind | kind_colour), (if .open then 6 else 7 end)]]};

# ── The steps ───────────────────────────────────────────────────────────────────────────────────────

def steps: ([(.sweep.transfer.steps? // [])[]? | objects | select(.kinds != null and (.compute.median_ns | positive) != null)] | first // {}) as $study
  | [($study.kinds // [])[] | objects | select(.unsupported == null)] as $kinds
  | ([$kinds[] | .serial?, .beside? | objects | (.ci95_ns[1]? // .median_ns) | positive // empty] | max // 1 | time_scale) as $s
  # "NaN" in the place of what was not measured.
  | def time: .median_ns? as $ns | if ($ns | positive) == null then ["NaN", "NaN", "NaN", " "]
      else [$ns / $s.by, ((.ci95_ns[0]? // $ns), (.ci95_ns[1]? // $ns) | . / $s.by), ($ns | duration)] end;
  {strings: {steps_unit: $s.unit, compute: (($study.compute.median_ns | positive // 0) / $s.by),
     steps_title: "A step of \($study.workload // "?" | clean) \($study.mode // "" | clean), \($study.dtype // "" | clean), batch \($study.batch // "?" | clean)\(
       if ($study.bytes | positive) then ", \($study.bytes | bytes_text) to copy" else "" end)"},
   # A row a kind of memory: its name and colour, then time, low, high and words of each step.
   steps: [$kinds[] | [(.host_memory | clean), (.host_memory | kind_colour)] + (.serial | time) + (.beside | time)]};

def title: "\(if is_predicted then "Predicted copies" else "Copies" end) between the host and \(device)";
def circumstances: . as $document
  | [.sweep.transfer.crosses_bus? | if . == false then "no bus was crossed: copies within the host's memory" elif . == true then "PCIe \($document.context.device.pcie // "unknown" | clean)" else empty end];

# Of a device that is not here: the steps by batch, and the least that the copy of each batch takes.
def predicted_steps($bus): [(.predicted // [])[] | objects
    | {batch: (.params.batch | positive), ns: (.real_time | positive), interval: (.interval80_ns // []), bytes: (.memory.input | positive)}
    | select(.batch != null and .ns != null)] | sort_by(.batch)
  | [.[] | [.batch, .ns / 1e6, (.interval[0]? // .ns) / 1e6, (.interval[1]? // .ns) / 1e6, (if $bus == null or .bytes == null then "NaN" else .bytes / $bus * 1e3 end)]];

points as $points
| (finding("bus").value | positive) as $limit
| [(.findings // [])[] | objects | select((.name // "" | tostring | startswith("pin/") or startswith("input/")))] as $inputs
# Of a device that is not here where the bus takes most of a step.
| ((if is_predicted then [$inputs | max_by(.value | number // 0) // empty] + [(.findings // [])[] | objects | select(.name == "bus")]
    else $inputs end) | [.[] | .claim | strings | clean]) as $verdicts
| ($verdicts[1:] + ($points | flag_notes) + fates("")) as $notes
| [panel($points; "h2d", "d2h", "both"; $limit), steps] as $panels
| ($panels | add | del(.strings)) + {predicted: predicted_steps($limit)}
  + {strings: (around(title; $verdicts[0]; circumstances; $notes) + {measured: (($points | length) + (predicted_steps($limit) | length)),
     batch_min: ([predicted_steps($limit)[][0]] | min // 1), batch_max: ([predicted_steps($limit)[][0]] | max // 1),
     bus_text: (if $limit == null then "" else "copy at the bus’s \($limit | rate_text)" end)}
    + (kinds | map({key: "colour_\(.)", value: kind_colour}) | from_entries) + ($panels | map(.strings) | add))}
| tables
