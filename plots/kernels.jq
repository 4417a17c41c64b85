# From a result file of the kernels sweep to the strings and tables that kernels.gp draws (format.jq: tables).
#
# Left: what the stream kernels get out of caches and memory, by the bytes they touch. Right: the roofline, with every
# point that does arithmetic as its rate against its intensity. Missing fields give missing marks, never an error.

include "format";

# gnuplot's filled circle, square, triangles, diamond; a pentagon for others. The open form is one below.
def shape: {gemm: 7, conv2d: 5, fma: 9, "fma on tensor cores": 11, stream: 13}[tostring] // 15;
def what: if .mode == "tensor-cores" then "\(.workload) on tensor cores" else .workload end;
# Half way to white.
def pale: [. / 65536, . / 256 % 256, . % 256] | map((floor + 255) / 2 | floor) | .[0] * 65536 + .[1] * 256 + .[2];
def mode_colour: {triad: 29362, read: 13983232, copy: 40563, scale: 13400487, add: 5670665}[tostring] // 5592405;
def rate_text($unit): (if . >= 1e15 then {by: 1e15, p: "P"} elif . >= 1e12 then {by: 1e12, p: "T"}
  elif . >= 1e9 then {by: 1e9, p: "G"} elif . >= 1e6 then {by: 1e6, p: "M"} else {by: 1, p: ""} end) as $s
  | "\(. / $s.by | figures(3)) \($s.p)\($unit)";

def points: [(.benchmarks // [])[] | objects
  | (.stats.median_ns | positive) as $ns | select($ns != null)
  | ((.work.fixed_bytes | number // 0) + (.work.sample_bytes | number // 0)) as $bytes
  | {workload: (.params.workload // "?" | clean), mode: (.params.mode // "?" | clean), dtype: (.params.dtype // "?" | clean),
     cold: (.params.caches == "cold"), bytes: $bytes, flops: (.work.flops | positive // 0), ns: $ns, flags: flags,
     shortest: (.stats.ci95_ns[0]? | positive // $ns), longest: (.stats.ci95_ns[1]? | positive // $ns)}
  | select(.bytes > 0)
  # Too little is known of such a point to draw a curve through it.
  | . + {wide: (.longest > 4 * .shortest)} | . + {lone: (.wide or (.flags | index("few_rounds") != null))}
  | . + {bandwidth: (.bytes / .ns * 1e9), rate: (.flops / .ns * 1e9), intensity: (.flops / .bytes)}] | marked;

def peaks: [(.findings // [])[] | objects | select(.name // "" | tostring | startswith("arithmetic_peak/"))
  | {dtype: (.name | split("/")[1] | clean), rate: (.value | positive)} | select(.rate != null)];
# The maker's figures: {"fp32": FLOP/s, …} and memory's B/s; nothing where the device is not in the catalogue.
def datasheet: .context.device.datasheet | if type == "object" then . else {} end;

# Curves of a kernel's steady points, and the marks of all.
def lines($stream; $cold): [$stream[] | select(.cold == $cold and (.lone | not))] | group_by(.mode) | map(select(length > 1))
  | [.[] | sort_by(.bytes) | (.[] | [.bytes, .bandwidth, (.mode | mode_colour)]), null];
def marks($stream): [$stream[] | [.bytes, .bandwidth, (.mode | mode_colour), (if .cold then 5 else 7 end) - (if .open then 1 else 0 end)]];
# Wide intervals as bars, in the unit of the mark: x, y, low, high, colour.
def bars($y; $x; colour): [.[] | select(.wide) | [.[$x], .[$y], .[$y] * .ns / .longest, .[$y] * .ns / .shortest, colour]];

# A stream kernel's largest arrays only, which no cache holds: its sizes have one intensity, and are on the left.
def operations($points): [$points[] | select(.flops > 0)]
  | map(select(.workload != "stream")) + (map(select(.workload == "stream")) | group_by([.mode, .dtype, .cold]) | map(max_by(.bytes)));
# "stream: add, scale, triad", in the order of their marks from left to right.
def key_of($points): if . != "stream" then . else
  "stream: \([$points[] | select(.workload == "stream")] | group_by(.mode) | map(min_by(.intensity)) | sort_by(.intensity) | map(.mode) | join(", "))" end;
# Few kinds with their dtypes, many without: a note is one line.
def kinds: map("\(.params.workload // "?" | clean) \(.params.dtype // "" | clean)") | unique
  | if length > 3 then map(split(" ")[0]) | unique else . end | ", of \(join(", "))";

is_predicted as $predicted | with_predicted | points as $points | (finding("memory_bandwidth").value | positive) as $memory | peaks as $peaks | datasheet as $sheet
| operations($points) as $own | [$points[] | select(.workload == "stream")] as $stream
| ([$stream[], $own[] | select(.wide)] | unique | length) as $wide | ([$stream[] | select(.lone)] | length) as $alone
| (($points | flag_notes)
   + (if $wide == 0 then [] else ["bars: 95 % intervals that span more than a factor of 4, of \($wide) point\(if $wide == 1 then "" else "s" end)"] end)
   + (if $alone == 0 or $alone == ($stream | length) then [] else ["no curve leads through \($alone) stream point\(if $alone == 1 then "" else "s" end) with fewer than 3 rounds, or an interval that spans more than a factor of 4"] end)
   + fates(kinds)) as $notes
# Memory's slope up to the highest ridge, and each dtype's peak from its own ridge on.
| ([($peaks[] | {name: "\(.dtype): \(.rate | rate_text("FLOP/s"))", colour: (.dtype | dtype_colour), slope: ($memory // infinite), peak: .rate,
       from: (if $memory == null then 0 else .rate / $memory end), to: infinite}),
    (select($memory != null) | ([$peaks[].rate] | max // infinite) as $top
      | {name: "memory: \($memory | rate_text("B/s"))", colour: 5592405, slope: $memory, peak: $top, from: 0, to: ($top / $memory)})]) as $roofs
| ([($sheet.flops_per_s // {} | to_entries[]? | select(.value | positive) | {name: .key, colour: (.key | dtype_colour), slope: infinite, peak: .value}),
    (($sheet.bytes_per_s | positive // empty) | {name: "memory", colour: 5592405, slope: ., peak: infinite})]) as $makers
| [$peaks[] | .rate / ($memory // empty)] as $ridges
| [lines($stream; false), lines($stream; true)] as [$hot, $cold]
| (if $hot == [] and $cold == [] then "round: hot caches; square: cold" else "solid, round: hot caches; dashed, square: cold" end) as $looks
| {strings: (around("\(if $predicted then "Predicted kernels" else "Kernels" end) on \(device)"; finding("memory_bandwidth").claim; []; $notes) 
    + {measured: ($points | length), bytes_min: ([$stream[].bytes] | min), bytes_max: ([$stream[].bytes] | max),
       bandwidth_max: ([$stream[].bandwidth] | max),
       stream_how: ([(if $predicted then "predicted, without caches" elif any($stream[]; .cold) then (if any($stream[]; .cold | not) then $looks else "cold caches" end) else "hot caches" end),
         (if any($stream[]; .open) then "open: flagged" else empty end)] | join("; ")),
       rates_title: (if $memory == null then "Rates of arithmetic" else "Roofline" end + if $predicted then ", predicted; roofs of the data sheet" else ", measured" end),
       rates_how: ([(if any($own[]; .cold) then "small, pale: cold caches" else empty end), (if any($own[]; .open) then "open: flagged" else empty end),
         (if $makers == [] then empty else "dotted: maker's figures" end)] | join("; ")),
       intensity_min: ([$own[].intensity, $ridges[]] | min), intensity_max: ([$own[].intensity, $ridges[]] | max),
       rate_min: ([$own[].rate] | min), rate_max: ([$own[].rate, $peaks[].rate, ($sheet.flops_per_s // {} | .[]? | positive // 0)] | max)}
    + ($stream | group_by(.mode) | map({name: .[0].mode, colour: (.[0].mode | mode_colour), look: (if all(.[]; .cold) then 5 else 7 end)}) | numbered("mode")) + ($roofs | numbered("roof")) + ($makers | numbered("maker"))
    + ([[$own[] | what] | unique[] | {name: key_of($own), look: shape}] | numbered("shape"))),
   hot: $hot, cold: $cold, marks: marks($stream),
   mark_bars: ($stream | bars("bandwidth"; "bytes"; .mode | mode_colour)), dot_bars: ($own | bars("rate"; "intensity"; .dtype | dtype_colour)),
   # Cold points over the hot ones, which they may coincide with.
   dots: [($own[] | select(.cold | not)), ($own[] | select(.cold)) | [.intensity, .rate,
     (.cold as $cold | .dtype | dtype_colour | if $cold then pale else . end), ((what | shape) - (if .open then 1 else 0 end)), (if .cold then 0.8 else 1.4 end)]]}
| tables
