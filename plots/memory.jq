# From a result file of the memory sweep to the strings and tables that memory.gp draws (format.jq: tables).
#
# Which series are drawn, in which units, with which words. Missing fields give missing marks, never an error.

include "format";
include "soak";

def most_panels: 8;

# ── What the file holds ─────────────────────────────────────────────────────────────────────────────

def without_batch: (.params // {}) | if type == "object" then del(.batch) else {} end;

# The sweep's label of a series, known from its limits; else in the same words.
def label_of($limits): without_batch as $params
  | ([$limits[] | select(.params == $params) | .label | strings] | first)
    // ("\($params.dtype // "?") \($params.mode // "?" | {infer: "inference", train: "training"}[tostring] // .)"
        + (if $params.optimizer == null then "" else " with \($params.optimizer)" end))
  | clean;

# Series in the order of dtypes, then of the file: a row of panels is then one dtype where that fits.
def series($limits): .unmeasured as $unmeasured
  | [((.benchmarks // []), ($unmeasured // []))[] | objects | {label: label_of($limits), dtype: .params.dtype}]
  | reduce .[] as $s ([]; if any(.[]; .label == $s.label) then . else . + [$s] end)
  | to_entries | sort_by([(.value.dtype | dtype_rank), .key]) | map(.value.label);

def points($limits): [(.benchmarks // [])[] | objects
  | (.params.batch | positive) as $batch | (.memory // {}) as $memory
  | bytes_of($memory) as $bytes
  | select($batch != null and $bytes > 0)
  # A cap limits what is tracked; "other" is mostly what the system saw beyond that.
  | {label: label_of($limits), batch: $batch, bytes: $bytes, tracked: ($memory.peak_measured | positive // $bytes), memory: $memory}];

def missing($limits): [(.unmeasured // [])[] | objects
  | {label: label_of($limits), batch: (.params.batch | positive), status: (.status // "?" | clean),
     reason: (.reason // "" | clean)} | select(.batch != null)];

# ── Words ───────────────────────────────────────────────────────────────────────────────────────────

# Texts joined while they fit: what does not is counted.
def joined($between; $most): . as $all | length as $n
  | ([range(1; $n + 1) as $k | ($all[:$k] | join($between)) + (if $k < $n then "\($between)and \($n - $k) more" else "" end)
      | select(length <= $most)] | last) // ($all | join($between) | shorten($most));

def fits_text: if .largest_batch > 0 then "\(.largest_batch | thousands) in \(.cap_bytes | bytes_text)"
  else "none in \(.cap_bytes | bytes_text)" end;

def circumstances: [.sweep.workload_options // {} | objects | to_entries[]
  | select(.key == "image-size" or .key == "sequence-length" or .key == "context") | "\(.key | gsub("-"; " ")) \(.value | clean)"];

# Fixed part and slope of a series, of the last segment: "187 MiB + 1.63 MiB × batch".
def line_text($findings; $name): ([$findings[] | select(.name == "memory_line/\($name)") | .details | objects] | first) as $d
  | if $d == null then "" else
      ([$d.segments[]? | objects] | last // $d) as $s
      | ($s.fixed_bytes | number) as $fixed | ($s.slope_bytes | number) as $slope
      | if $fixed == null or $slope == null then ""
        elif $slope > 0 then $d | memory_line_text($d.segments[0]?.first_batch // 1)
        elif $slope == 0 and ($d.segments // [] | length) <= 1 then "\($fixed | bytes_text), the same at each batch"
        else "" end end;

# ── A panel a series ────────────────────────────────────────────────────────────────────────────────

# A row a batch: its name, its number, bytes by category.
def bars($name; $batches; $stack; $points; $missing; $scale): [$batches[] as $b
  | ([$points[] | select(.label == $name and .batch == $b)][0]) as $p
  | if $p == null then
      [($b | thousands), ([$missing[] | select(.label == $name and .batch == $b) | if .status == "oom" then "✕" else "–" end][0] // " ")] + [$stack[] | 0]
    else [($b | thousands), ($p.tracked / $scale.by | figures(3))] + [$stack[] | ($p.memory[.key] | positive // 0) / $scale.by] end];

def heading($name; $limits; $findings; $chars): [$limits[] | select(.label == $name)] as $fits
  | {name: $name, line: line_text($findings; $name),
     largest: (if $fits == [] then "" else "largest: " + ([$fits[] | select(.largest_batch > 0)] | if . == [] then $fits else . end | map(fits_text) | joined(", "; $chars - 9)) end)}
  | map_values(shorten($chars));

# ── Memory over one step ────────────────────────────────────────────────────────────────────────────

# Sums, values computed again and updates between backward operations belong to the pass around them.
def region_of($before; $updates): if test(" again$") or ($updates and startswith("optimizer")) then "backward" elif startswith("forward") then "forward"
  elif startswith("backward") then "backward" elif startswith("loss") then "loss"
  elif startswith("optimizer") then "optimizer" else $before end;

# [{name, from, to}, …], operations counted from 1.
def regions: any(.[]; test(" again$")) as $again | (map(startswith("backward")) | rindex([true]) // 0) as $last
  | any(.[:$last][]; startswith("optimizer")) as $updates
  | reduce to_entries[] as $o ([]; (last.name // "") as $before | ($o.value | region_of($before; $o.key < $last)) as $name
      | if length > 0 and $name == $before then .[-1].to = $o.key + 1
        else . + [{name: $name, from: ($o.key + 1), to: ($o.key + 1)}] end)
  | map(select(.name != "") | .text = .name + (if .name != "backward" then "" else (if $again then ", computing values again" else "" end) + (if $updates then ", updating weights" else "" end) end));

def step($memory):
  ($memory.names | map(clean)) as $names | ($names | length) as $n
  | [categories[] | . as $c | ($memory.bytes[$c.key] // [] | map(positive // 0)) as $b | select(any($b[]; . > 0)) | {key, colour, bytes: $b}] as $layers
  | [range(0; $n) as $i | [$layers[].bytes[$i] // 0] | add] as $sums
  | ($sums | max) as $peak | ($sums | index($peak)) as $at | ($memory.reserved_bytes | positive) as $reserved
  | ([$peak, $reserved // 0] | max) as $top | ($top | byte_scale_of) as $scale | ($names | regions) as $regions
  | {strings: ({
       step_title: "Memory over one step, by plan: \($memory.label // "?" | clean)\(if ($memory.batch | positive) == null then "" else " at batch \($memory.batch | thousands)" end)",
       step_unit: $scale.unit, step_top: ($top / $scale.by), operations: $n,
       peak_text: "most held at once: \($peak | bytes_text), \($names[$at] | shorten(50))",
       reserved: (($reserved // 0) / $scale.by), reserved_text: "reserved by the step: \($reserved // 0 | bytes_text)"}
       + ($layers | map({colour}) | numbered("step_layer"))),
     tables: {step: ([range(0; $n) as $i | [$i + 1] + [$layers[].bytes[$i] // 0 | . / $scale.by]]
         | . + [[$n + 1] + .[-1][1:]]),
       peak: [[$at + 1, $peak / $scale.by]],
       separators: [$regions[1:][].from - 0.5 | [.]],
       # The longest pass of each name, named at its middle.
       passes: [$regions | group_by(.text)[] | max_by(.to - .from) | [((.from + .to) / 2), .text]]}};

def step_of: .sweep.step_memory? | objects
  | select((.names | type) == "array" and (.names | length) > 0 and (.bytes | type) == "object"
      and ([.bytes[] | arrays[] | positive // 0] | max // 0) > 0);

# ── Notes ───────────────────────────────────────────────────────────────────────────────────────────

def notes($all; $drawn; $points; $missing; $limits; $caps; $unseen; $top; $unit):
  (if $drawn == [] then [] elif any($points[]; .bytes > .tracked) then ["Numbers above the bars: \($unit) that bench allocated; a cap limits these. Gray (other): memory the system reports in addition."]
   else ["Numbers above the bars: \($unit) in all."] end) as $first
  | [$missing[] | select(.label as $l | $drawn | index($l))] as $here
  | [(if any($here[]; .status == "oom") then "✕ not run: larger than the largest cap" else empty end),
     (if any($here[]; .status == "skipped") then "– not run: \([$here[] | select(.status == "skipped") | .reason] | first)" else empty end),
     (if any($here[]; .status != "skipped" and .status != "oom") then
        ([$here[] | select(.status != "skipped" and .status != "oom")][0] | "– \(.label), batch \(.batch | thousands): \(.status), \(.reason)") else empty end)]
  # Series left out, each for one reason.
  | $first + . + [([$limits[] | select(.label as $l | $drawn | index($l) | not)] | group_by(.label)
        | map(select(all(.[]; .largest_batch == 0)) | max_by(.cap_bytes))
      | if . == [] then empty else
          "Too large for \(map(.cap_bytes) | max | bytes_text), by plan, even at the smallest batch: \([.[] | "\(.label) (\(.smallest_bytes | bytes_text) at batch \(.smallest_batch | thousands))"] | joined(", "; 110))" end)]
  + [([$missing[] | select(.status == "unsupported" and (.label as $l | $drawn | index($l) | not))] | group_by(.label) | map(.[0])
      | if . == [] then empty else "Unsupported: \([.[] | "\(.label) (\(.reason))"] | joined(", "; 140))" end)]
  + [([$all[] | . as $l | select(any($points[]; .label == $l)) | select($drawn | index($l) | not)]
      | if . == [] then empty else "Measured, not drawn: \(joined(", "; 140))" end)]
  + [([$all[] | . as $l | select(any($points[]; .label == $l) | not)
        | select(any($missing[]; .label == $l and .status != "oom" and .status != "unsupported"))]
      | if . == [] then empty else "Not measured: \(joined(", "; 140))" end)]
  + [(if $unseen == [] or $top == 0 then empty else
        "Cap\(if ($unseen | length) == 1 then "" else "s" end) above the axis: \([$unseen[] | "\(bytes_text) (\(. / $top | figures(2)) times the highest bar)"] | joined(", "; 130))" end)];

# ── Everything ──────────────────────────────────────────────────────────────────────────────────────

is_predicted as $predicted | with_predicted | [(.findings // [])[] | objects] as $findings
| [(.sweep.limits? // [])[] | objects
   | .label |= (. // "?" | clean) | .cap_bytes |= positive | .largest_batch |= (number // 0) | .smallest_bytes |= (number // 0) | .smallest_batch |= (number // 1)
   | select(.cap_bytes != null)] as $limits
| series($limits) as $all | points($limits) as $points | missing($limits) as $missing
| [$all[] | . as $l | select(any($points[]; .label == $l))][:most_panels] as $drawn | ($drawn | length) as $n
| [$points[], $missing[] | select(.status == null or .status == "oom") | select(.label as $l | $drawn | index($l))] as $seen
# Batches that no drawn series measured take no room.
| ([$seen[].batch] | unique) as $batches
| ([$seen[] | .bytes // 0] | max // 0) as $highest
| ([$limits[].cap_bytes, (.sweep.memory_caps_bytes[]? | positive | select(. != null)), (.sweep.memory_cap_bytes? | positive | select(. != null))] | unique) as $all_caps
| [$all_caps[] | select(. <= 1.6 * $highest)] as $caps
| ([$highest, $caps[]] | max // 1) as $top | ($top | byte_scale_of) as $scale
| (if $n <= 5 then [$n, 1] | max elif $n == 6 then 3 else 4 end) as $columns
| [categories[] | .key as $k | select(any($points[]; (.label as $l | $drawn | index($l)) and ((.memory[$k] | positive) != null)))] as $stack
| (notes($all; $drawn; $points; $missing; $limits; $caps; ($all_caps - $caps); $highest; $scale.unit) + workspace_notes) as $notes
| ([step_of] | first) as $memory | (if $memory == null or $n == 0 then null else step($memory) end) as $step
| (if $n == 0 then [] else soaks($findings) end) as $soaks | (if $soaks == [] then null else soak_panel($soaks) end) as $soak
| ([$findings[] | select(.name | tostring | startswith("largest_batch/")) | .claim | strings] | first) as $claim
| {strings: (around("What fills the memory, \(if $predicted then "predicted" else "measured" end) at the peak: \(workload) on \(device)"; $claim; circumstances; $notes)
     + {measured: $n, columns: $columns, batches: ($batches | length), unit: $scale.unit, top: ($top / $scale.by)}
     + ($stack | map({name: .key, colour}) | numbered("layer")) + ($caps | map({name: "cap \(bytes_text)", at: (. / $scale.by)}) | numbered("cap"))
     + ($drawn | map(heading(.; $limits; $findings; (200 / $columns | floor))) | numbered("panel"))
     + ($step.strings // {}) + ($soak.strings // {}))}
  + ([$drawn | to_entries[] | {key: "bars\(.key + 1)", value: bars(.value; $batches; $stack; $points; $missing; $scale)}] | from_entries)
  + ($step.tables // {}) + ($soak.tables // {})
| tables
