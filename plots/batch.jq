# From a result file of the batch sweep to the tables that batch.gp draws.
#
# Output: `# strings` with lines of key TAB value, then one `# name` block a table, two empty lines apart.
# Everything that depends on the data is decided here: units, ranges, colours, where labels stand.
# Missing fields give missing marks, never an error.

include "format";

# ── What the file holds ─────────────────────────────────────────────────────────────────────────────

def dtype_shape: {fp32: 7, bf16: 5, fp16: 9, tf32: 13}[.] // 11;   # gnuplot: filled; the open one is one less
def dtype_rank: {fp32: 0, tf32: 1, bf16: 2, fp16: 3}[.] // 4;

def points: [(.benchmarks // [])[]
  | (.params.batch | positive) as $batch
  | (.items_per_second | positive) as $rate
  | select($batch != null and $rate != null)
  | (.stats.median_ns | positive) as $median
  | ([.stats.ci95_ns[]? | positive] | if length == 2 and $median != null and all(.[]; . != null) then . else [1, 1] end) as $ci
  | {batch: $batch, dtype: (.params.dtype // "?" | clean), rate: $rate,
     # A rate's interval is the time's turned over.
     low: (if $median == null or $ci[1] == 1 then $rate else $rate * $median / $ci[1] end),
     high: (if $median == null or $ci[1] == 1 then $rate else $rate * $median / $ci[0] end),
     flags: [(.validity.flags // [])[] | tostring | split(":")[0] | gsub("_"; " ")],
     memory: (.memory // {}),
     bytes: ([(.memory // {}) as $m | categories[] | $m[.key] | positive // 0] | add)}];

def missing: [(.unmeasured // [])[]
  | {batch: (.params.batch | positive), dtype: (.params.dtype // "?" | clean), status: (.status // "?" | clean),
     reason: (.reason // "" | clean)}];

# Findings of one kind by dtype: {"fp32": {…}}. A name without "/dtype" is of a sweep with one dtype.
def findings_of($kind; $dtypes): [(.findings // [])[] | objects
  | (.name // "" | tostring | split("/")) as $name | select($name[0] == $kind)
  | {key: ($name[1] // $dtypes[0] // "?"), value: .}] | from_entries;

# ── Ranges and units ────────────────────────────────────────────────────────────────────────────────

def log2_of: log / (2 | log);

# At most `most` of the sizes as tick marks, so far apart on a log axis that their labels do not touch.
def log_ticks($most): (length) as $n | if $n <= 1 then . else
  ((last / first | log2_of) / $most) as $apart
  | reduce .[] as $b ([]; if length == 0 or ($b / last | log2_of) >= $apart then . + [$b] else . end) end;

# ── The left panel ──────────────────────────────────────────────────────────────────────────────────

def throughput($points; $missing; $dtypes):
  findings_of("t_inf"; $dtypes) as $t_inf | findings_of("t0"; $dtypes) as $t0 | findings_of("ceiling_batch"; $dtypes) as $ceilings
  # An interval of hardly any samples may reach anywhere: it leaves the picture rather than flatten it.
  | ([([$points[].high] | max // 1), 1.4 * ([$points[].rate] | max // 1)] | min) as $best
  | ($best | scale_of) as $scale
  | ([$points[].batch, ($missing[].batch | select(. != null))] | unique) as $batches
  | ($batches | first // 1) as $first | ($batches | last // 1) as $last
  | ([$dtypes[] as $d
      | ($t_inf[$d].details.t_inf_per_s // $t_inf[$d].value | positive) as $limit
      | (($t_inf[$d].details.t0_ns // $t0[$d].details.t0_ns) | number) as $t0_ns
      | ([$points[] | select(.dtype == $d)] | sort_by(.batch)) as $own
      | {dtype: $d, colour: ($d | dtype_colour), limit: $limit, t0_ns: $t0_ns, own: $own,
         t0_told: ($t0[$d].details.distinguishable_from_zero != false),
         rough: ($t_inf[$d].details.model_holds == false),
         # A limit far above what was measured would flatten the measurements: it is named, not drawn.
         drawn: ($limit != null and $limit <= 1.6 * $best)}]) as $series
  | ([$best, ($series[] | select(.drawn) | .limit)] | max) as $top
  | ([$dtypes[] as $d | ($ceilings[$d].value | positive) as $at | select($at != null)
      | ([$points[] | select(.dtype == $d and .batch == $at)][0]) as $point | select($point != null)
      | {dtype: $d, at: $at, y: $point.rate,
         text: "\($d) ceiling: batch \($at | thousands)\(if $ceilings[$d].details.may_lie_beyond == true then " or beyond" else "" end)"}] | sort_by(.at)) as $ceiling
  | ($top / (0.95 - 0.07 * ([$ceiling | length, 1] | max))) as $y_max
  | ($first / 1.35) as $x_min | ($last * 1.35) as $x_max
  # Dtypes stand a little beside each other, so that none hides another's interval.
  | def aside($dtype): . * (($x_max / $x_min | log) * 0.009 * (($dtypes | index($dtype)) - (($dtypes | length) - 1) / 2) | exp);
  def across: (. / $x_min | log) / ($x_max / $x_min | log);   # 0 at the left edge, 1 at the right
  # A ceiling's label stands in a row of its own above everything, beside the end of a line that rises from
  # its point. In this order no line passes through the label of a lower row.
  (if ($ceiling | length) > 0 and ($ceiling[0].at | across) > 0.35 and ($ceiling[-1].at | across) > 0.6
   then ($ceiling | reverse | map(.side = "right"))
   else ($ceiling | map(.side = (if (.at | across) > 0.6 then "right" else "left" end))) end
   | to_entries | map(.value + {label_y: ($y_max * (0.955 - 0.07 * .key)), colour: (.value.dtype | dtype_colour)})) as $ceiling
  | [$series[] | select(.own | length > 0)
     | {colour, y: (if .drawn then .limit else .own[-1].rate end), dtype, limit, drawn, t0_ns, t0_told, rough}]
  | spread(0.17 * $y_max; 0.92 * $y_max) as $labels
  | {strings: {
       rate_unit: "samples per second\($scale.words)", x_min: $x_min, x_max: $x_max, y_max: ($y_max / $scale.by),
       y_min: (if any($missing[]; .batch != null) then -0.06 * $y_max / $scale.by else 0 end)},
     x_ticks: [$batches | log_ticks(if $last < 1000 then 13 else 9 end)[] | [., thousands]],
     rates: [$points[] | .dtype as $d | [(.batch | aside($d)), .rate / $scale.by, .low / $scale.by, .high / $scale.by, (.dtype | dtype_colour),
                          (.dtype | dtype_shape) - (if .flags == [] then 0 else 1 end)]],
     # Where a dtype has a fit, its curve batch / (t0 + batch / T∞) over the measured sizes.
     fits: [$series[] | select(.limit != null and .t0_ns != null and (.own | length) > 1) | . as $s
       | (range(0; 65) | $s.own[0].batch * ((.  / 64) as $f | ($s.own[-1].batch / $s.own[0].batch | log) * $f | exp)
         | [., . / ($s.t0_ns / 1e9 + . / $s.limit) / $scale.by, $s.colour]), null],
     limits: [$series[] | select(.drawn)
       | [$x_min, .limit / $scale.by, .colour], [$x_max, .limit / $scale.by, .colour], null],
     rate_labels: [$labels[] | [$x_max, .y / $scale.by,
       ([.dtype,
         (if .limit == null then empty else "\(if .drawn then "" else "↑ " end)T∞ \(if .rough then "≈ " else "" end)\(.limit | figures(3))/s" end),
         (if .t0_ns == null or (.t0_told | not) then empty else "t0 \(.t0_ns | duration)" end)] | join("\\n")), .colour]],
     ceiling_marks: [$ceiling[] | .dtype as $d | [(.at | aside($d)), .y / $scale.by, .colour]],
     ceiling_lines: [$ceiling[] | .dtype as $d | (.at | aside($d)) as $x
       | [$x, .y / $scale.by, .colour], [$x, .label_y / $scale.by, .colour], null],
     ceilings_left: [$ceiling[] | select(.side == "left")
       | [.at, .label_y / $scale.by, .text, .colour]],
     ceilings_right: [$ceiling[] | select(.side == "right")
       | [.at, .label_y / $scale.by, .text, .colour]],
     # Below zero, where no measured point can lie.
     absent: [$missing[] | select(.batch != null) | .dtype as $d | [(.batch | aside($d)), -0.03 * $y_max / $scale.by, (.dtype | dtype_colour)]]};

# ── The right panel ─────────────────────────────────────────────────────────────────────────────────

# The fitted line at a batch: of the segment between two steps that the batch lies in.
def line_at($batch): ([(.segments // [])[]? | objects | select((.first_batch | positive // infinite) <= $batch)] | last) // .
  | (.fixed_bytes | number) as $fixed | (.slope_bytes | number) as $slope
  | if $fixed == null or $slope == null or $slope <= 0 then null else $fixed + $slope * $batch end;

def memory($points; $missing; $dtypes; $cap):
  findings_of("memory_line"; $dtypes) as $lines | findings_of("largest_batch"; $dtypes) as $largest
  | [$points[] | select(.bytes > 0)] as $points
  | [$missing[] | select(.status == "oom" and .batch != null)] as $oom
  | ([$points[].batch, ($missing[].batch | select(. != null))] | unique) as $batches   # as on the left
  | ($dtypes | map(select(. as $d | any($points[], $oom[]; .dtype == $d)))) as $dtypes
  | ([$points[].bytes] | max // 1) as $most
  | ($most | byte_scale_of) as $scale
  | ($cap != null and $cap <= 1.3 * $most) as $cap_drawn
  | ([$most, (if $cap_drawn then $cap else empty end),
      ($points[] | . as $p | $lines[.dtype].details // {} | line_at($p.batch) // empty)] | max) as $top
  | ([$dtypes[] as $d | $lines[$d] | select(. != null) | (.details // {})
      | (.fixed_bytes | number) as $fixed | (.slope_bytes | number) as $slope
      | select($fixed != null and $slope != null and $slope > 0)
      | ($largest[$d].value | positive) as $fits
      | ([$points[] | select(.dtype == $d) | .batch] | max // 0) as $seen
      | [$d, "\($d): \($fixed | bytes_text) + \($slope | bytes_text) × batch\(if $fits == null then "" else
          ", fits to batch \($fits | thousands)\(if $fits > $seen then " (predicted)" else "" end)" end)"]]) as $formulas
  | (($formulas | length) + (if $cap != null and ($cap_drawn | not) then 1 else 0 end)) as $rows
  | ($top / ((if ($batches | length) * ($dtypes | length) <= 10 then 0.91 else 0.86 end) - 0.06 * $rows)) as $y_max
  | (($batches | length) * ($dtypes | length)) as $bars
  | (0.8 / ([$dtypes | length, 1] | max)) as $width
  # Left edge of a bar; the batches stand at 0, 1, 2, …
  | def left($point): ($batches | index($point.batch)) - 0.4 + $width * ($dtypes | index($point.dtype));
    ($bars | if . <= 10 then 0 else 90 end) as $rotate
  | ([($bars / 28 | ceil), 1] | max) as $every   # label every so many batches
  | def labelled($point): ($every == 1 or $point.bytes == ([$points[] | select(.batch == $point.batch) | .bytes] | max))
      and (($batches | length) - 1 - ($batches | index($point.batch))) % $every == 0;
  {strings: {memory_unit: $scale.unit, bars_min: -0.7, bars_max: (([$batches | length, 1] | max) - 0.3),
             memory_max: ($y_max / $scale.by),
             # Long formulas stay inside the panel.
             formula_font: ([12, (12 * 66 / ([($formulas[][1] | length), 1] | max) | floor)] | min), rotate: $rotate, has_memory: ($points | length)},
   bars: [$points[] | . as $p | reduce categories[] as $c ([0, []];
       ($p.memory[$c.key] | positive // 0) as $b
       | if $b == 0 then . else
           [.[0] + $b, .[1] + [[left($p) + 0.03 * $width, left($p) + 0.97 * $width, .[0] / $scale.by, (.[0] + $b) / $scale.by, $c.colour]]] end)
     | .[1][]],
   line_marks: [$points[] | . as $p | ($lines[.dtype].details // {} | line_at($p.batch)) as $y | select($y != null and $y >= 0)
     | [left($p) - 0.02, $y / $scale.by], [left($p) + $width + 0.02, $y / $scale.by], null],
   totals: [$points[] | select(labelled(.)) | . as $p
     | ([.bytes, ($lines[.dtype].details // {} | line_at($p.batch) // 0)] | max) as $y
     # Not across the cap's line: above it then.
     | (if $cap_drawn and $y <= $cap and $cap < $y + $y_max * (if $rotate == 0 then 0.06 else 0.12 end) then $cap else $y end) as $y
     | [left(.) + $width / 2, $y / $scale.by, (.bytes / $scale.by | figures(3))]],
   # Which dtype a bar is: a strip in its colour below the axis.
   strips: [$points[] | [left(.) + 0.03 * $width, left(.) + 0.97 * $width, (.dtype | dtype_colour)]],
   oom: [$oom[] | [left(.) + $width / 2, 0.015 * $y_max / $scale.by, (.dtype | dtype_colour)]],
   memory_ticks: [range(0; $batches | length) as $i | select((($batches | length) - 1 - $i) % ([$every, ($batches | length / (if last < 1000 then 14 else 9 end) | ceil)] | max) == 0)
     | [$i, ($batches[$i] | thousands)]],
   cap: (if $cap_drawn then [[-0.7, $cap / $scale.by], [($batches | length) - 0.3, $cap / $scale.by]] else [] end),
   notes_in: ([$formulas[] | {text: .[1], colour: (.[0] | dtype_colour)}]
     + (if $cap != null and ($cap_drawn | not)
        then [{text: "↑ cap \($cap | bytes_text), \($cap / $most | figures(2)) times the highest bar", colour: 5592405}] else [] end)
     | to_entries | [.[] | [-0.68 + 0.02 * ($batches | length), (0.955 - 0.06 * .key) * $y_max / $scale.by, .value.text, .value.colour]])
   # The key: squares for the stack, strips for the dtypes, lines.
   } + (([($dtypes[] | {text: ., colour: dtype_colour, kind: "key_strips"}),
     (categories[] | . as $c | select(any($points[]; (.memory[$c.key] | positive) != null)) | {text: .key, colour, kind: "key_squares"})]
     + (if ($formulas | length) > 0 then [{text: "fitted line", colour: 0, kind: "key_lines"}] else [] end)
     + (if $cap_drawn then [{text: "cap \($cap | bytes_text)", colour: 13369344, kind: "key_lines"}] else [] end)
     | to_entries | map(.value + {y: (0.955 - 0.062 * .key)})) as $key
     | {key_texts: [$key[] | [0.2, .y, .text]]}
       + ([("key_strips", "key_squares", "key_lines") as $kind
           | {key: $kind, value: [$key[] | select(.kind == $kind) | [0.02, .y, .colour]]}] | from_entries));

# ── Words above and below ───────────────────────────────────────────────────────────────────────────

# One note for all points with the same fate: "✕ bf16, batch 512 and 1024: out of memory (…)".
def fates($missing): [$missing | group_by([.dtype, .status])[]
  | ([.[].batch | select(. != null)] | unique) as $batches
  | {oom: "out of memory", unsupported: "unsupported", skipped: "skipped", error: "error"}[.[0].status] as $fate
  | "✕ \(.[0].dtype)\($batches | listing): \($fate // .[0].status)\(if .[0].reason == "" then "" else " (\(.[0].reason))" end)"];

def title: (.sweep.workload | if type == "object" then .name else . end // "workload?" | clean) as $workload
  | (.sweep.mode // (([.benchmarks[]?, .unmeasured[]?] | first // {}) | .params.mode // (.name // "" | tostring | split("/")[2])) // "") as $mode
  | "\($workload)\(if $mode == "" then "" else ", \($mode | clean)" end) on \(.context.device.name // .context.device.id // "an unknown device" | clean | squeeze)";

def subtitle: [(.context.host.usable_cores // null | if . == null then empty else "\(.) cores" end),
    (.context.software.onednn // null | if . == null then empty else "oneDNN \(tostring | clean | squeeze)" end),
    (.context.date // null | if . == null then empty else (tostring | clean | .[0:16] | sub("T"; " ")) end)] | join(" · ");

points as $points | missing as $missing
| ([$points[].dtype, $missing[].dtype] | unique | sort_by(dtype_rank)) as $dtypes
| ([$points[] | select(.flags != [])] | length) as $flagged
| (fates($missing) + (if $flagged == 0 then [] else
    ["○ open marks, \($flagged) of \($points | length) points: \([$points[].flags[]] | unique | join(", "))"] end)
   | if length > 4 then .[0:3] + ["… and \(length - 3) more notes in the result file"] else . end) as $notes
| throughput($points; $missing; $dtypes) as $left
| memory($points; $missing; $dtypes; (.sweep.memory_cap_bytes | positive)) as $right
| ({strings: ({title: title, subtitle: subtitle, measured: ($points | length), notes: ($notes | length)}
      + ([$notes | to_entries[] | {key: "note\(.key + 1)", value: (.value | shorten(190))}] | from_entries)
      + $left.strings + $right.strings)}
   + ($left | del(.strings)) + ($right | del(.strings))) as $all
| (($all | del(.strings) | to_entries | map({key: "rows_\(.key)", value: ([.value[] | select(. != null)] | length)}) | from_entries) as $counts
   | "# strings", ($all.strings + $counts | to_entries[] | "\(.key)\t\(.value)")),
  ($all | del(.strings) | to_entries[] | "", "", "# \(.key)",
   (.value[] | if . == null then "" else [.[] | tostring] | join("\t") end))
