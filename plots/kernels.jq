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
# Of the maker: {"fp32": FLOP/s, …} and memory's B/s; nothing where the device is not in the catalogue.
def datasheet: .context.device.datasheet | if type == "object" then . else {} end;

def decade_down: pow(10; log10 | floor);
def decade_up: pow(10; log10 | ceil);
def decade_ticks($low; $high): [range($low | log10 | round; ($high | log10 | round) + 1)] | map(pow(10; .));

def lines($points): [$points[] | select(.workload == "stream")] | group_by([.mode, .cold])
  | map(sort_by(.bytes)) ;

# ── Left ────────────────────────────────────────────────────────────────────────────────────────────

def left($points; $memory): lines($points) as $lines
  | ([$lines[][].bytes] | min // 1) as $first | ([$lines[][].bytes] | max // 1) as $last
  | ([$lines[][].bandwidth, ($memory // 0)] | max // 1) as $top
  | ($first / 1.5) as $x_min | ($last * 1.6) as $x_max
  | {strings: {has_stream: ($lines | length), bytes_min: $x_min, bytes_max: $x_max, bandwidth_max: (1.12 * $top / 1e9),
       memory_line: (if $memory == null then 0 else $memory / 1e9 end)},
     size_ticks: ([[1024, 8192, 65536, 524288, 4194304, 33554432, 268435456, 2147483648, 17179869184][]
       | select(. >= $x_min and . <= $x_max) | [., bytes_text]]
       | if length > 0 then . else [[$first, ($first | bytes_text)], ([$last, ($last | bytes_text)] | select($last > 1.5 * $first))] end),
     hot_lines: [$lines[] | select(.[0].cold | not) | (.[] | [.bytes, .bandwidth / 1e9, (.mode | mode_colour)]), null],
     cold_lines: [$lines[] | select(.[0].cold) | (.[] | [.bytes, .bandwidth / 1e9, (.mode | mode_colour)]), null],
     hot_marks: [$lines[][] | select(.cold | not) | [.bytes, .bandwidth / 1e9, (.mode | mode_colour), (if .flags == [] then 7 else 6 end)]],
     cold_marks: [$lines[][] | select(.cold) | [.bytes, .bandwidth / 1e9, (.mode | mode_colour), (if .flags == [] then 5 else 4 end)]],
     stream_key: ([$lines[][0].mode] | unique | to_entries
       | map([0.97, (0.955 - 0.05 * .key), .value, (.value | mode_colour)]))};

# ── Right ───────────────────────────────────────────────────────────────────────────────────────────

# Of a stream kernel only the largest arrays, which no cache holds: its sizes have one intensity, and stand on the left.
def operations($points): [$points[] | select(.flops > 0)]
  | map(select(.workload != "stream")) + (map(select(.workload == "stream")) | group_by([.mode, .dtype, .cold]) | map(max_by(.bytes)));
# "stream: add, scale, triad", in the order of their marks from left to right.
def key_of($points): if . != "stream" then . else
  "stream: \([$points[] | select(.workload == "stream")] | group_by(.mode) | map(min_by(.intensity)) | sort_by(.intensity) | map(.mode) | join(", "))" end;

def right($points; $memory; $peaks; $sheet):
  operations($points) as $own
  | ([$own[].intensity] | min // 0.1) as $low | ([$own[].intensity, ($peaks[] | .rate / ($memory // 1e10))] | max // 1000) as $high
  | ($low / 1.6) as $x_min
  # Right of every mark, where the roofs' names stand: three tenths of the axis.
  | ($high * ([2.2, pow($high / $x_min; 0.42)] | max)) as $x_max
  | ([$peaks[].rate, $own[].rate, ($sheet.flops_per_s // {} | .[]? | positive // 0)] | max // 1) as $most
  | ([$own[].rate, (if $memory == null then empty else $memory * $x_min end)] | min // 1) as $least
  | ($least / 2) as $y_min | ($most * 2.2) as $y_max
  | {strings: {has_roofline: ($own | length), intensity_min: $x_min, intensity_max: $x_max, rate_min: ($y_min / 1e9), rate_max: ($y_max / 1e9)},
     # None so far right that half its number is off the picture.
     intensity_ticks: [decade_ticks($x_min | decade_down; $x_max | decade_up)[] | select(. >= $x_min and . <= $x_max / pow($x_max / $x_min; 0.02)) | [., (if . >= 1 then thousands else tostring end)]],
     rate_ticks: [decade_ticks($y_min | decade_down; $y_max | decade_up)[] | select(. >= $y_min and . <= $y_max) | [. / 1e9, rate_text("FLOP/s")]],
     # A measured ceiling: memory's slope up to the ridge, then the dtype's peak; the slope alone where there is no peak.
     roofs: [($peaks[] | .rate as $peak | .dtype as $d
       | (if $memory == null then [$x_min, $peak / 1e9, ($d | dtype_colour)]
          else [$x_min, ([$memory * $x_min, $peak] | min) / 1e9, ($d | dtype_colour)], [([$peak / $memory, $x_min] | max), $peak / 1e9, ($d | dtype_colour)] end),
         [$x_max, $peak / 1e9, ($d | dtype_colour)], null),
       (if $memory == null or $peaks != [] then empty
        else ([$x_max, $y_max / $memory] | min) as $stop | [$x_min, $memory * $x_min / 1e9, 5592405], [$stop, $memory * $stop / 1e9, 5592405], null end)],
     sheets: [($sheet.flops_per_s // {} | to_entries[]? | (.value | positive) as $v | select($v != null) | (.key | dtype_colour) as $c
       | [$x_min, $v / 1e9, $c], [$x_max, $v / 1e9, $c], null),
       (($sheet.bytes_per_s | positive) as $b | if $b == null then empty else [$x_min, $b * $x_min / 1e9, 5592405], [([$x_max, $y_max / $b] | min), ([$x_max, $y_max / $b] | min) * $b / 1e9, 5592405], null end)],
     roof_labels: [$peaks | map(. + {y: (.rate * 1.28 | log10)}) | spread(0.052 * ($y_max / $y_min | log10); $y_max | log10)[]
       | [$x_max / 1.12, pow(10; .y) / 1e9, "\(.dtype): \(.rate | rate_text("FLOP/s"))", (.dtype | dtype_colour)]],
     # Left of the slope, a quarter of the axis wide: marks there are of data from a cache.
     slope_label: (if $memory == null then [] else [[$x_min * pow($x_max / $x_min; 0.02),
       ([$memory * $x_min * pow($x_max / $x_min; 0.29), $y_max / 1.3] | min) / 1e9, "memory \($memory | rate_text("B/s"))", 5592405]] end),
     # Cold points over the hot ones, which they may coincide with.
     dots: [($own[] | select(.cold | not)), ($own[] | select(.cold)) | [.intensity, .rate / 1e9,
       (.cold as $cold | .dtype | dtype_colour | if $cold then pale else . end), ((what | shape) - (if .flags == [] then 0 else 1 end)), (if .cold then 0.8 else 1.4 end)]],
     dot_key: ([$own[] | what] | unique | to_entries
       | map([$x_max / 1.12, ($y_min * pow($y_max / $y_min; 0.05 + 0.055 * .key)) / 1e9, (.value | key_of($own)), (.value | shape)]))};

def title: "Kernels on \(.context.device.name // .context.device.id // "an unknown device" | clean | squeeze)";
def subtitle: [(.context.host.usable_cores // null | if . == null then empty else "\(.) cores" end),
    (.context.software.onednn // null | if . == null then empty else "oneDNN \(tostring | clean | squeeze)" end),
    (.context.date // null | if . == null then empty else (tostring | clean | .[0:16] | sub("T"; " ")) end)] | join(" · ");
# Of few kinds with their dtypes, of many without: a note is one line.
def kinds: map("\(.workload) \(.dtype)") | unique | if length > 3 then map(split(" ")[0]) | unique else . end | join(", ");
# One note for all points with the same fate.
def fates: [(.unmeasured // [])[] | objects | {workload: (.params.workload // "?" | clean), dtype: (.params.dtype // "" | clean), status: (.status // "?" | clean), reason: (.reason // "" | clean)}]
  | group_by([.status, .reason]) | sort_by(-length) | map("✕ \(length) point\(if length == 1 then "" else "s" end) \(.[0].status), of \(kinds)\(if .[0].reason == "" then "" else " (\(.[0].reason))" end)");

points as $points | found("memory_bandwidth") as $memory | peaks as $peaks | datasheet as $sheet
| ([$points[] | select(.flags != [])] | length) as $flagged
| ((if $flagged == 0 then [] else
    ["\($flagged) of \($points | length) points carry a flag: \([$points[].flags[]] | unique | join(", "))"] end) + fates
   | if length > 3 then .[0:2] + ["… and \(length - 2) more notes in the result file"] else . end) as $notes
| left($points; $memory) as $left | right($points; $memory; $peaks; $sheet) as $right
| {strings: ({title: (title | shorten(110)), subtitle: subtitle, measured: ($points | length), notes: ($notes | length)}
    + ([$notes | to_entries[] | {key: "note\(.key + 1)", value: (.value | shorten(150))}] | from_entries)
    + $left.strings + $right.strings)}
  + ($left | del(.strings)) + ($right | del(.strings))
| tables
