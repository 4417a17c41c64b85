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
     cold: (.params.caches == "cold"), bytes: $bytes, flops: (.work.flops | positive // 0), ns: $ns, flags: flags}
  | select(.bytes > 0)
  | . + {bandwidth: (.bytes / .ns * 1e9), rate: (.flops / .ns * 1e9), intensity: (.flops / .bytes)}];

def peaks: [(.findings // [])[] | objects | select(.name // "" | tostring | startswith("arithmetic_peak/"))
  | {dtype: (.name | split("/")[1] | clean), rate: (.value | positive)} | select(.rate != null)];
# The maker's figures: {"fp32": FLOP/s, …} and memory's B/s; nothing where the device is not in the catalogue.
def datasheet: .context.device.datasheet | if type == "object" then . else {} end;

def lines($points; $cold): [$points[] | select(.workload == "stream" and .cold == $cold)] | group_by(.mode)
  | [.[] | sort_by(.bytes) | (.[] | [.bytes, .bandwidth, (.mode | mode_colour), (if $cold then 5 else 7 end) - (if .flags == [] then 0 else 1 end)]), null];

# A stream kernel's largest arrays only, which no cache holds: its sizes have one intensity, and are on the left.
def operations($points): [$points[] | select(.flops > 0)]
  | map(select(.workload != "stream")) + (map(select(.workload == "stream")) | group_by([.mode, .dtype, .cold]) | map(max_by(.bytes)));
# "stream: add, scale, triad", in the order of their marks from left to right.
def key_of($points): if . != "stream" then . else
  "stream: \([$points[] | select(.workload == "stream")] | group_by(.mode) | map(min_by(.intensity)) | sort_by(.intensity) | map(.mode) | join(", "))" end;
# Few kinds with their dtypes, many without: a note is one line.
def kinds: map("\(.params.workload // "?" | clean) \(.params.dtype // "" | clean)") | unique
  | if length > 3 then map(split(" ")[0]) | unique else . end | ", of \(join(", "))";

points as $points | (finding("memory_bandwidth").value | positive) as $memory | peaks as $peaks | datasheet as $sheet
| operations($points) as $own | [$points[] | select(.workload == "stream")] as $stream
| ([$points[] | select(.flags != [])] | length) as $flagged
| ((if $flagged == 0 then [] else
    ["\($flagged) of \($points | length) points carry a flag: \([$points[].flags[]] | unique | join(", "))"] end) + fates(kinds)) as $notes
# A roof is memory's slope up to the ridge, then the peak; the slope alone where there is no peak.
| ([($peaks[] | {name: "\(.dtype): \(.rate | rate_text("FLOP/s"))", colour: (.dtype | dtype_colour), slope: ($memory // infinite), peak: .rate}),
    (select($memory != null) | {name: "memory: \($memory | rate_text("B/s"))", colour: 5592405, slope: $memory, peak: (if $peaks == [] then infinite else 0 end)})]) as $roofs
| ([($sheet.flops_per_s // {} | to_entries[]? | select(.value | positive) | {name: .key, colour: (.key | dtype_colour), slope: infinite, peak: .value}),
    (($sheet.bytes_per_s | positive // empty) | {name: "memory", colour: 5592405, slope: ., peak: infinite})]) as $makers
| [$peaks[] | .rate / ($memory // empty)] as $ridges
| {strings: (around("Kernels on \(device)"; finding("memory_bandwidth").claim; []; $notes) 
    + {measured: ($points | length), bytes_min: ([$stream[].bytes] | min), bytes_max: ([$stream[].bytes] | max),
       intensity_min: ([$own[].intensity, $ridges[]] | min), intensity_max: ([$own[].intensity, $ridges[]] | max),
       rate_min: ([$own[].rate] | min), rate_max: ([$own[].rate, $peaks[].rate, ($sheet.flops_per_s // {} | .[]? | positive // 0)] | max)}
    + ($stream | map(.mode) | unique | map({name: ., colour: mode_colour}) | numbered("mode")) + ($roofs | numbered("roof")) + ($makers | numbered("maker"))
    + ([[$own[] | what] | unique[] | {name: key_of($own), look: shape}] | numbered("shape"))),
   hot: lines($points; false), cold: lines($points; true),
   # Cold points over the hot ones, which they may coincide with.
   dots: [($own[] | select(.cold | not)), ($own[] | select(.cold)) | [.intensity, .rate,
     (.cold as $cold | .dtype | dtype_colour | if $cold then pale else . end), ((what | shape) - (if .flags == [] then 0 else 1 end)), (if .cold then 0.8 else 1.4 end)]]}
| tables
