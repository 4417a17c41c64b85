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
     cold: (.params.caches == "cold"), bytes: $bytes, flops: (.work.flops | positive // 0), ns: $ns,
     flags: [(.validity.flags // [])[] | tostring | split(":")[0] | gsub("_"; " ")]}
  | select(.bytes > 0)
  | . + {bandwidth: (.bytes / .ns * 1e9), rate: (.flops / .ns * 1e9), intensity: (.flops / .bytes)}];

def found($name): [(.findings // [])[] | objects | select(.name == $name) | .value | positive] | first;
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

# [[name, colour or shape], …] as strings: mode1, mode1_look, …, modes.
def key_entries($kind): [to_entries[] | {key: "\($kind)\(.key + 1)", value: .value[0]}, {key: "\($kind)\(.key + 1)_look", value: .value[1]}]
  + [{key: "\($kind)s", value: length}] | from_entries;

def left($points): [$points[] | select(.workload == "stream")] as $stream
  | {strings: ({has_stream: ($stream | length), bytes_min: (([$stream[].bytes] | min // 1) / 1.5), bytes_max: (([$stream[].bytes] | max // 1) * 1.5)} + ($stream | map(.mode) | unique | map([., mode_colour]) | key_entries("mode"))),
     hot: lines($points; false), cold: lines($points; true)};

def right($points; $memory; $peaks; $sheet): operations($points) as $own
  | (([$own[].intensity] | min // 0.1) / 1.6) as $x_min
  | (1.6 * ([$own[].intensity, ($peaks[] | .rate / ($memory // 1e10))] | max // 1000)) as $x_max
  # The slope up to the ridge, then the peak; the slope alone where there is no peak.
  | def roof($bandwidth; $peak; $colour):
      (if $bandwidth == null then [$x_min, $peak, $colour] else [$x_min, ([$bandwidth * $x_min, $peak] | min), $colour], [([$peak / $bandwidth, $x_min] | max), $peak, $colour] end),
      [$x_max, $peak, $colour], null;
    def slope($bandwidth): [$x_min, $bandwidth * $x_min, 5592405], [$x_max, $bandwidth * $x_max, 5592405], null;
  {strings: ({has_roofline: ($own | length), intensity_min: $x_min, intensity_max: $x_max,
         rate_min: (([$own[].rate] | min // 1) / 2), rate_max: (2 * ([$own[].rate, $peaks[].rate, ($sheet.flops_per_s // {} | .[]? | positive // 0)] | max // 1))}
       + ([($peaks[] | ["\(.dtype): \(.rate | rate_text("FLOP/s"))", (.dtype | dtype_colour)]),
           (select($memory != null) | ["memory: \($memory | rate_text("B/s"))", 5592405])] | key_entries("roof"))
       + ([[$own[] | what] | unique[] | [key_of($own), shape]] | key_entries("shape"))),
     roofs: [($peaks[] | roof($memory; .rate; .dtype | dtype_colour)), (select($memory != null and $peaks == []) | slope($memory))],
     sheets: [($sheet.flops_per_s // {} | to_entries[]? | (.value | positive) as $peak | select($peak != null)
         | [$x_min, $peak, (.key | dtype_colour)], [$x_max, $peak, (.key | dtype_colour)], null),
       (($sheet.bytes_per_s | positive) as $bandwidth | select($bandwidth != null) | slope($bandwidth))],
     # Cold points over the hot ones, which they may coincide with.
     dots: [($own[] | select(.cold | not)), ($own[] | select(.cold)) | [.intensity, .rate,
       (.cold as $cold | .dtype | dtype_colour | if $cold then pale else . end), ((what | shape) - (if .flags == [] then 0 else 1 end)), (if .cold then 0.8 else 1.4 end)]]};

def title: "Kernels on \(.context.device.name // .context.device.id // "an unknown device" | clean | squeeze)";
def subtitle: [(.context.host.usable_cores // null | if . == null then empty else "\(.) cores" end),
    (.context.software.onednn // null | if . == null then empty else "oneDNN \(tostring | clean | squeeze)" end),
    (.context.date // null | if . == null then empty else (tostring | clean | .[0:16] | sub("T"; " ")) end)] | join(" · ");
# Few kinds with their dtypes, many without: a note is one line.
def kinds: map("\(.workload) \(.dtype)") | unique | if length > 3 then map(split(" ")[0]) | unique else . end | join(", ");
# One note for all points with the same fate.
def fates: [(.unmeasured // [])[] | objects | {workload: (.params.workload // "?" | clean), dtype: (.params.dtype // "" | clean), status: (.status // "?" | clean), reason: (.reason // "" | clean)}]
  | group_by([.status, .reason]) | sort_by(-length) | map("✕ \(length) point\(if length == 1 then "" else "s" end) \(.[0].status), of \(kinds)\(if .[0].reason == "" then "" else " (\(.[0].reason))" end)");

points as $points | found("memory_bandwidth") as $memory | peaks as $peaks | datasheet as $sheet
| ([$points[] | select(.flags != [])] | length) as $flagged
| ((if $flagged == 0 then [] else
    ["\($flagged) of \($points | length) points carry a flag: \([$points[].flags[]] | unique | join(", "))"] end) + fates
   | if length > 3 then .[0:2] + ["… and \(length - 2) more notes in the result file"] else . end) as $notes
| left($points) as $left | right($points; $memory; $peaks; $sheet) as $right
| {strings: ({title: (title | shorten(110)), subtitle: subtitle, measured: ($points | length), notes: ($notes | length)}
    + ([$notes | to_entries[] | {key: "note\(.key + 1)", value: (.value | shorten(150))}] | from_entries)
    + $left.strings + $right.strings)}
  + ($left | del(.strings)) + ($right | del(.strings))
| tables
