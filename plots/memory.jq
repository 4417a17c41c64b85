# From a result file of the memory sweep to the strings and tables that memory.gp draws (format.jq: tables).
#
# Everything that depends on the data is decided here: which series are drawn, sizes, units, where labels
# stand. Lengths named _px are pixels of the picture. Missing fields give missing marks, never an error.

include "format";
include "soak";

def most_panels: 8;
def width_px: 1600;
def title_chars($px): $px / 9.9 | floor;   # DejaVu Sans at 13 points, on average
def small_chars($px): $px / 7.3 | floor;   # at 11 points

# ── What the file holds ─────────────────────────────────────────────────────────────────────────────

def without_batch: (.params // {}) | if type == "object" then del(.batch) else {} end;

# The sweep's label of a series, known from its limits; else in the same words.
def label_of($limits): without_batch as $params
  | ([$limits[] | select(.params == $params) | .label | strings] | first)
    // ("\($params.dtype // "?") \($params.mode // "?" | {infer: "inference", train: "training"}[tostring] // .)"
        + (if $params.optimizer == null then "" else " with \($params.optimizer)" end))
  | clean;

def dtype_rank: {fp32: 0, bf16: 1, fp16: 2, tf32: 3}[tostring] // 4;

# Series in the order of dtypes, then of the file: a row of panels is then one dtype where that fits.
def series($limits): .unmeasured as $unmeasured
  | [((.benchmarks // []), ($unmeasured // []))[] | objects | {label: label_of($limits), dtype: .params.dtype}]
  | reduce .[] as $s ([]; if any(.[]; .label == $s.label) then . else . + [$s] end)
  | to_entries | sort_by([(.value.dtype | dtype_rank), .key]) | map(.value.label);

def points($limits): [(.benchmarks // [])[] | objects
  | (.params.batch | positive) as $batch | (.memory // {}) as $memory
  | ([categories[] | $memory[.key] | positive // 0] | add) as $bytes
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

# How far the limits were tried on the device.
def proof_text: [.[] | .largest_batch == .proof.largest_batch] as $agreed
  | if all($agreed[]; .) then "by plan, proved by allocating"
    elif any($agreed[]; .) then "by plan, \([$agreed[] | select(.)] | length) of \($agreed | length) proved by allocating"
    else "by plan" end;

# What fits in the smallest cap that holds anything, and how that is known.
def claim_of($limits): [$limits[] | select(.cap_bytes != null)] | group_by(.cap_bytes) as $by_cap
  | if $by_cap == [] then ["", ""] else
      ([$by_cap[] | select(any(.[]; .largest_batch > 0))] | first) as $cap
      | if $cap == null then ["Nothing fits in \($by_cap[-1][0].cap_bytes | bytes_text)", ", by plan"]
        elif ($cap | length) == 1 and ($by_cap | length) > 1 then
          ["Largest batch of \($cap[0].label): \([$by_cap[][0] | fits_text] | joined(", "; 90))", " (\([$by_cap[][]] | proof_text))"]
        else ([$cap[] | select(.largest_batch > 0)] | sort_by(.largest_batch)) as $fit
          | ([$cap[] | select(.largest_batch == 0)] | length) as $none
          | ["In \($cap[0].cap_bytes | bytes_text) fit "
            + (if ($fit | length) <= 2 then [$fit[] | "batch \(.largest_batch | thousands) of \(.label)"] | join(", ")
               else "between batch \($fit[0].largest_batch | thousands) (\($fit[0].label)) and \($fit[-1].largest_batch | thousands) (\($fit[-1].label))" end)
            + (if $none == 0 then "" else "; \($none) of \($cap | length) do not fit" end),
             " (\($cap | proof_text))"] end end;

# The line below the title: without the second part where both are too long.
def claim($limits; $most): claim_of($limits) as $parts
  | [($parts | join("")), $parts[0]] | [.[] | select(length <= $most)] | first // ($parts[0] | shorten($most));

def title: "What fills the memory: \(.sweep.workload | if type == "object" then .name else . end // "workload?" | clean) on \(.context.device.name // .context.device.id // "an unknown device" | clean | squeeze)";

def subtitle: [
    (.sweep.workload_options // {} | objects | to_entries[] | select(.key == "image-size" or .key == "sequence-length" or .key == "context")
     | "\(.key | gsub("-"; " ")) \(.value | clean)"),
    (.context.host.usable_cores // empty | "\(.) cores"),
    (.context.software.onednn // empty | "oneDNN \(clean | squeeze)"),
    (.context.date // empty | clean | .[0:16] | sub("T"; " "))] | join(" · ");

# Fixed part and slope of a series, of the last segment: "187 MiB + 1.63 MiB × batch".
def line_text($findings; $name): ([$findings[] | select(.name == "memory_line/\($name)") | .details | objects] | first) as $d
  | if $d == null then "" else
      ([$d.segments[]? | objects] | last // $d) as $s
      | ($s.fixed_bytes | number) as $fixed | ($s.slope_bytes | number) as $slope
      | if $fixed == null or $slope == null then ""
        elif $slope > 0 then "\($fixed | bytes_text) + \($slope | bytes_text) × batch\(if ($d.segments // [] | length) > 1 then " from \($s.first_batch | thousands)" else "" end)"
        elif $slope == 0 and ($d.segments // [] | length) <= 1 then "\($fixed | bytes_text), the same at each batch"
        else "" end end;

# ── Bars against batch ──────────────────────────────────────────────────────────────────────────────

def panels($drawn; $points; $missing; $limits; $findings; $scale; $caps; $top; $g):
  [$points[], $missing[] | select(.status == null or .status != "unsupported") | select(.label as $l | $drawn | index($l))] as $seen
  # Batches that no drawn series measured take no room.
  | ([$seen[] | select(.status == null or .status == "oom") | .batch] | unique) as $batches
  | ($batches | length) as $n
  | ($g.panel_px / $n) as $slot_px
  | ([$points[] | select(.label as $l | $drawn | index($l)) | .tracked / $scale.by | figures(3) | length] | max // 3) as $digits
  | ($digits * 8.4 + 4 > $slot_px) as $turned
  | ([0.4, 70 / $slot_px] | min) as $half
  | ([1, (16 / $slot_px | ceil)] | max) as $every
  | (if $turned then $digits * 8.4 + 14 else 24 end) as $total_px
  | ($top * $g.panel_h_px / ($g.panel_h_px - $total_px)) as $y_max
  | ($y_max / $g.panel_h_px) as $pixel
  | ([1, (([$batches[] | thousands | length] | max) * 10.5 + 6) / $slot_px | ceil] | max) as $tick_every
  | ($batches | length - 1) as $last
  | {batches: $batches, y_max: ($y_max / $scale.by), turned: (if $turned then 1 else 0 end), x_max: ($n - 0.5),
     # A label that would reach out to the left could meet the last one of the panel before.
     ticks: [range(0; $n) as $i
       | select(($last - $i) % $tick_every == 0 and ($i + 0.5) * $slot_px + 4 > ($batches[$i] | thousands | length) * 5.2) | [$i, ($batches[$i] | thousands)]],
     cap_lines: [$caps[] | [-0.5, . / $scale.by], [$n - 0.5, . / $scale.by], null],
     cap_labels: ([$caps[] | {at: (. / $y_max), y: (. / $y_max), text: "cap \(bytes_text)"}] | spread(20 / $g.panel_h_px; 1)
       | map({at, y, text})),
     panels: [$drawn | to_entries[] | .key as $i | .value as $name
       | [$points[] | select(.label == $name)] as $own
       | [$limits[] | select(.label == $name)] as $fits
       | {title: ($name | shorten([title_chars($g.panel_px) , 12] | max)),
          lines: ([(line_text($findings; $name) | shorten(small_chars($g.panel_px))),
                  (if $fits == [] then "" else "largest: " + ([$fits[] | select(.largest_batch > 0)] | if . == [] then $fits else . end
                     | map(fits_text) | joined(", "; small_chars($g.panel_px) - 9)) end)] | sort_by(. == "")),
          x: ($g.left_px + ($i % $g.columns) * ($g.panel_px + $g.gap_px)),
          row: ($i / $g.columns | floor), first: ($i % $g.columns == 0),
          last: ($i % $g.columns == $g.columns - 1 or $i == ($drawn | length) - 1),
          bottom: ($i + $g.columns >= ($drawn | length)),
          bars: [$own[] | . as $p | ($batches | index($p.batch)) as $at
            | reduce categories[] as $c ([0, []];
                ($p.memory[$c.key] | positive // 0) as $b
                | if $b == 0 then . else
                    [.[0] + $b, .[1] + [[$at - $half, $at + $half, .[0] / $scale.by, (.[0] + $b) / $scale.by, $c.colour]]] end)
            | .[1][]],
          totals: [$own[] | . as $p | ($batches | index($p.batch)) as $at | select(($last - $at) % $every == 0)
            # A cap's line that would pass through the number has it stand above.
            | (reduce ($caps | sort[]) as $cap (.bytes; if $cap > . - 3 * $pixel and $cap < . + $total_px * $pixel then $cap else . end)) as $y
            | [$at, $y / $scale.by, (.tracked / $scale.by | figures(3))]],
          oom: [$missing[] | select(.label == $name and .status == "oom") | (.batch as $b | $batches | index($b)) | select(. != null)
            | [., 9 * $pixel / $scale.by]],
          left_out: [$missing[] | select(.label == $name and .status != "oom") | (.batch as $b | $batches | index($b)) | select(. != null)
            | [., 9 * $pixel / $scale.by]]}]};

# ── Memory over one step ────────────────────────────────────────────────────────────────────────────

# Sums and what is computed again belong to the pass they stand in.
def region_of($before): if test(" again$") then "backward" elif startswith("forward") then "forward"
  elif startswith("backward") then "backward" elif startswith("loss") then "loss"
  elif startswith("optimizer") then "optimizer" else $before end;

# [{name, from, to}, …], operations counted from 1.
def regions: any(.[]; test(" again$")) as $again
  | reduce to_entries[] as $o ([]; (last.name // "") as $before | ($o.value | region_of($before)) as $name
      | if length > 0 and $name == $before then .[-1].to = $o.key + 1
        else . + [{name: $name, from: ($o.key + 1), to: ($o.key + 1)}] end)
  | map(select(.name != "") | .text = (if $again and .name == "backward" then "backward, computing values again" else .name end));

# One run of equal values a step: [[from, bytes], [to, bytes], …].
def outline: to_entries
  | reduce .[] as $e ([]; if length > 0 and last[1] == $e.value then .[-1][0] = $e.key + 1.5
      else . + [[$e.key + 0.5, $e.value], [$e.key + 1.5, $e.value]] end);

def step($memory; $width_px; $height_px):
  ($memory.names | map(clean)) as $names | ($names | length) as $n
  | [categories[] | . as $c | ($memory.bytes[$c.key] // [] | map(positive // 0)) as $b | select(any($b[]; . > 0)) | {key, colour, bytes: $b}] as $layers
  | (reduce $layers[] as $l ({sum: [range(0; $n) | 0], all: []};
       .sum = [.sum, ([range(0; $n) as $i | $l.bytes[$i] // 0])] | .sum |= transpose | .sum |= map(add)
       | .all += [{key: $l.key, colour: $l.colour, top: .sum}])) as $stack
  | ($stack.sum | max) as $peak | ($stack.sum | index($peak)) as $at
  | ($memory.reserved_bytes | positive) as $reserved
  | ([$peak, $reserved // 0] | max) as $top
  | ($top | byte_scale_of) as $scale
  | "most held at once: \($peak | bytes_text), \($names[$at] | shorten([60, ($width_px / 9.8 - 36 | floor)] | min))" as $peak_text
  | (if $reserved == null then "" else "reserved by the step: \($reserved | bytes_text)" end) as $reserved_text
  | (($at + 0.5) / $n * $width_px) as $px
  | (($peak_text | length) * 9.8 + 12) as $peak_px | (($reserved_text | length) * 9.8 + 12) as $reserved_px
  # The peak's label beside its mark, the other at the far end; in one row where there is room for both.
  | (($at + 0.5) / $n < 0.5) as $early
  | ((if $early then $px else $width_px - $px end) + $peak_px + 20 + $reserved_px < $width_px) as $one_row
  | (if $px + $peak_px < $width_px and ($early or $px < $peak_px) then "left" elif $px > $peak_px then "right" else "center" end) as $side
  | (if $one_row then 34 else 58 end) as $rows_px
  | ($top * $height_px / ($height_px - $rows_px)) as $y_max
  | ($names | regions) as $regions
  | {strings: {
       step_title: (["\($memory.label // "?" | clean)", ""]
         | map("Memory over one step, by plan: \(.)\(if ($memory.batch | positive) == null then "" else " at batch \($memory.batch | thousands)" end)" | squeeze)
         | [(.[] | select(length * 10.3 < $width_px)), .[1]] | first),
       step_unit: $scale.unit, step_y_max: ($y_max / $scale.by), step_x_max: ($n + 0.5), step_layers: ($stack.all | length),
       peak_x: ($at + 1), peak_y: ($peak / $scale.by), peak_text: $peak_text, peak_side: $side,
       peak_label_x: (if $side == "center" then 0.5 else ($px + (if $side == "left" then 8 else -8 end)) / $width_px end),
       peak_row: (if $one_row then 1 - 18 / $height_px else 1 - 16 / $height_px end),
       # A mark's line ends below a label that stands across it.
       peak_line: (1 - (if $side == "center" then 27 elif $one_row then 14 else 10 end) / $height_px),
       reserved_side: (if $early then "right" else "left" end), reserved_label_x: (if $early then 0.998 else 0.002 end),
       reserved_text: $reserved_text,
       reserved_row: (if $one_row then 1 - 18 / $height_px else 1 - 42 / $height_px end)},
     layers: $stack.all, scale: $scale, n: $n,
     regions: [$regions[] | {from: (.from - 0.5), to: (.to + 0.5), colour: {forward: 12303291, backward: 7829367, loss: 3355443, optimizer: 3355443}[.name]}],
     reserved_line: (if $reserved == null then [] else [[0.5, $reserved / $scale.by], [$n + 0.5, $reserved / $scale.by]] end),
     peak: [[$at + 1, $peak / $scale.by]],
     separators: [$regions[1:][] | [.from - 0.5, 0], [.from - 0.5, $top / $scale.by], null],
     # The longest passes are named first; a name without room for itself is left out.
     region_labels: ([$regions[] | (.text | length * 8.2 / 2) as $half
         | {text, length: (.to - .from), half: $half,
            px: ([[((.from + .to) / 2 - 0.5) / $n * $width_px, $half] | max, $width_px - $half] | min)}]
       | sort_by(-.length)
       | reduce .[] as $l ([]; if all(.[]; ((.px - $l.px) | fabs) > .half + $l.half + 14) then . + [$l] else . end)
       | map({x: (.px / $width_px), text}))};

def step_of: .sweep.step_memory? | objects
  | select((.names | type) == "array" and (.names | length) > 0 and (.bytes | type) == "object"
      and ([.bytes[] | arrays[] | positive // 0] | max // 0) > 0);

# ── Notes ───────────────────────────────────────────────────────────────────────────────────────────

def notes($all; $drawn; $points; $missing; $limits; $caps; $unseen; $top; $unit):
  (if any($points[]; .bytes > .tracked) then ["Above the bars: \($unit) tracked, which is what a cap limits; in the bars, other is what the system saw beyond that"]
   else ["Above the bars: \($unit) in all"] end) as $first
  | [$missing[] | select(.label as $l | $drawn | index($l))] as $here
  | [(if any($here[]; .status == "oom") then "✕ passes the largest cap, not run" else empty end),
     (if any($here[]; .status == "skipped") then "– not run: \([$here[] | select(.status == "skipped") | .reason] | first)" else empty end),
     (if any($here[]; .status != "skipped" and .status != "oom") then
        ([$here[] | select(.status != "skipped" and .status != "oom")][0] | "– \(.label), batch \(.batch | thousands): \(.status), \(.reason)") else empty end)]
  # Of the series left out, each for one reason.
  | $first + . + [([$limits[] | select(.label as $l | $drawn | index($l) | not)] | group_by(.label)
        | map(select(all(.[]; .largest_batch == 0)) | max_by(.cap_bytes))
      | if . == [] then empty else
          "In \(map(.cap_bytes) | max | bytes_text) fits, by plan, nothing of: \([.[] | "\(.label) (\(.smallest_bytes | bytes_text) at batch \(.smallest_batch | thousands))"] | joined(", "; 110))" end)]
  + [([$missing[] | select(.status == "unsupported" and (.label as $l | $drawn | index($l) | not))] | group_by(.label) | map(.[0])
      | if . == [] then empty else "Unsupported: \([.[] | "\(.label) (\(.reason))"] | joined(", "; 140))" end)]
  + [([$all[] | . as $l | select(any($points[]; .label == $l)) | select($drawn | index($l) | not)]
      | if . == [] then empty else "Measured, not drawn: \(joined(", "; 140))" end)]
  + [([$all[] | . as $l | select(any($points[]; .label == $l) | not)
        | select(any($missing[]; .label == $l and .status != "oom" and .status != "unsupported"))]
      | if . == [] then empty else "Not measured: \(joined(", "; 140))" end)]
  + [(if $unseen == [] or $top == 0 then empty else
        "Caps beyond the axis: \([$unseen[] | "\(bytes_text) (\(. / $top | figures(2)) times the highest bar)"] | joined(", "; 130))" end)]
  | if length > 5 then .[0:4] + ["… and \(length - 4) more notes in the result file"] else . end
  | map(shorten(155));

# ── Everything in its place ─────────────────────────────────────────────────────────────────────────

[(.findings // [])[] | objects] as $findings
| [(.sweep.limits? // [])[] | objects
   | .label |= (. // "?" | clean) | .cap_bytes |= positive | .largest_batch |= (number // 0) | .smallest_bytes |= (number // 0) | .smallest_batch |= (number // 1)
   | select(.cap_bytes != null)] as $limits
| series($limits) as $all | points($limits) as $points | missing($limits) as $missing
| [$all[] | . as $l | select(any($points[]; .label == $l))][:most_panels] as $drawn
| ([step_of] | first) as $memory
| ([$points[] | select(.label as $l | $drawn | index($l)) | .bytes] | max // 0) as $highest
| ([$limits[].cap_bytes, (.sweep.memory_caps_bytes[]? | positive | select(. != null)), (.sweep.memory_cap_bytes? | positive | select(. != null))] | unique) as $all_caps
| [$all_caps[] | select(. <= 1.6 * $highest)] as $caps
| ([$highest, $caps[]] | max) as $top
| ($top | byte_scale_of) as $scale
| ($drawn | length) as $n
| ($n == 1 and $memory != null) as $beside
| (if $n <= 5 then [$n, 1] | max elif $n == 6 then 3 else 4 end) as $columns
| ([1, ($n / $columns | ceil)] | max) as $rows
| notes($all; $drawn; $points; $missing; $limits; $caps; ($all_caps - $caps); $highest; $scale.unit) as $notes
| (if $caps == [] then 30 else 36 + 7.8 * ([$caps[] | "cap \(bytes_text)" | length] | max) end) as $margin_px
| {columns: $columns, left_px: 100, gap_px: 24,
   panel_h_px: (if $beside then 430 elif $rows == 1 then 300 else 190 end)} as $g
| ($g + {panel_px: (((if $beside then 690 else width_px end) - $g.left_px - $margin_px - ($columns - 1) * $g.gap_px) / $columns)}) as $g
| 196 as $panels_px | 62 as $head_px | 40 as $foot_px
| (if $n == 0 then 420 else $panels_px + $rows * ($head_px + $g.panel_h_px + $foot_px) end) as $below_px
| (if $beside then {left: 800, right: 1570, top: ($panels_px + $head_px), height: $g.panel_h_px}
   else {left: $g.left_px, right: 1570, top: ($below_px + 90), height: (if $rows == 1 then 270 else 230 end)} end) as $s
| (if $memory == null or $n == 0 then null else step($memory; $s.right - $s.left; $s.height) end) as $step
| (if $step == null or $beside then $below_px + 24 else $s.top + $s.height + 76 end) as $above_soak_px
| (if $n == 0 then [] else soaks($findings) end) as $soaks
# Title, a line a series, the panel, its axis.
| {top: ($above_soak_px + 48 + 23 * ($soaks | length)), height: 190} as $soak_at
| (if $soaks == [] then $above_soak_px else $soak_at.top + $soak_at.height + 76 end) as $used_px
| (if $soaks == [] then null else soak_panel($soaks; 165) end) as $soak
| ($used_px + 24 * ($notes | length) + 12) as $height_px
| def up($px): 1 - $px / $height_px;
  def across($px): $px / width_px;
  (if $n == 0 then null else panels($drawn; $points; $missing; $limits; $findings; $scale; $caps; $top; $g) end) as $p
| ([categories[] | .key as $k | select(any($points[]; (.label as $l | $drawn | index($l)) and ((.memory[$k] | positive) != null))
     or any($step.layers[]?; .key == $k))]
   | reduce .[] as $c ({at: 0, items: []}; .items += [$c + {at}] | .at += 28 + 10.2 * ($c.key | length) + 30)) as $key
| {strings: ({title: (title | shorten(110)), claim: claim($limits; 145), subtitle: subtitle,
     width: width_px, height: $height_px, panels: $n, notes: ($notes | length), keys: ($key.items | length),
     title_y: up(34), claim_y: up(68), subtitle_y: up(98), key_y: up(132), key_half: (8 / $height_px),
     heading: "Memory at the peak, measured",
     heading_x: across($g.left_px), heading_y: up($panels_px - 16), unit: $scale.unit,
     x_max: ($p.x_max // 1), y_max: ($p.y_max // 1), turned: ($p.turned // 0), has_step: (if $step == null then 0 else 1 end),
     step_left: across($s.left), step_right: across($s.right), step_top_y: up($s.top), step_bottom_y: up($s.top + $s.height),
     step_title_y: up(if $beside then $panels_px - 16 else $s.top - 56 end),
     strip_low: (1 + 7 / $s.height), strip_high: (1 + 13 / $s.height), strip_text: (1 + 26 / $s.height)}
     + ([$notes | to_entries[] | {key: "note\(.key + 1)", value: .value}, {key: "note\(.key + 1)_y", value: up($used_px + 10 + 24 * .key)}] | from_entries)
     + ([$key.items | to_entries[] | .key as $i | .value
         | {key: "key\($i + 1)", value: .key}, {key: "key\($i + 1)_x", value: across((width_px - $key.at) / 2 + .at)}, {key: "key\($i + 1)_colour", value: .colour}] | from_entries)
     + ([$p.panels[]? ] | to_entries | [.[] | "panel\(.key + 1)" as $k | .value | ($panels_px + .row * ($head_px + $g.panel_h_px + $foot_px)) as $y
         | {key: $k, value: .title}, {key: "\($k)_line1", value: .lines[0]}, {key: "\($k)_line2", value: .lines[1]},
           {key: "\($k)_left", value: across(.x)}, {key: "\($k)_right", value: across(.x + $g.panel_px)},
           {key: "\($k)_top", value: up($y + $head_px)}, {key: "\($k)_bottom", value: up($y + $head_px + $g.panel_h_px)},
           {key: "\($k)_title_y", value: up($y + 12)}, {key: "\($k)_line1_y", value: up($y + 32)}, {key: "\($k)_line2_y", value: up($y + 50)},
           {key: "\($k)_first", value: (if .first then 1 else 0 end)}, {key: "\($k)_last", value: (if .last then 1 else 0 end)},
           {key: "\($k)_low", value: (if .bottom then 1 else 0 end)}] | from_entries)
     + ($step.strings // {})
     + ($soak.strings // {})
     + {soaks: ($soaks | length), soak_left: across($g.left_px), soak_right: across(1570), soak_title_y: up($above_soak_px + 14),
        soak_top_y: up($soak_at.top), soak_bottom_y: up($soak_at.top + $soak_at.height)}
     + ([$soaks | to_entries[] | {key: "soak\(.key + 1)_y", value: up($above_soak_px + 42 + 23 * .key)}] | from_entries)
     # {"cap1": text, "cap1_at": …, …}, and so the others.
     + ({cap: ($p.cap_labels // []), region: ($step.regions // []), pass: ($step.region_labels // []), layer: [$step.layers[]? | {colour}]}
        | [to_entries[] | .key as $kind | .value | to_entries[] | "\($kind)\(.key + 1)" as $k | .value | to_entries[]
           | {key: (if .key == "text" then $k else "\($k)_\(.key)" end), value}] | from_entries)
     + {caps: ($p.cap_labels // [] | length), regions: ($step.regions // [] | length), region_labels: ($step.region_labels // [] | length)}),
   ticks: ($p.ticks // []), cap_lines: ($p.cap_lines // []), separators: ($step.separators // []),
   reserved_line: ($step.reserved_line // []), peak: ($step.peak // [])}
  + ([$p.panels[]?] | to_entries | [.[] | .key as $i | .value | {bars, totals, oom, left_out} | to_entries[] | {key: "\(.key)\($i + 1)", value: .value}] | from_entries)
  + ($soak.tables // {})
  + ([$step.layers[]?] | to_entries | map({key: "layer\(.key + 1)", value: [.value.top | outline[] | [.[0], .[1] / $step.scale.by]]}) | from_entries)
| tables
