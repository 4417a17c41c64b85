# From a result file of the batch sweep to the strings and tables that batch.gp draws (format.jq: tables).
# Missing fields give missing marks, never an error.

include "format";

def dtype_shape: {fp32: 7, bf16: 5, fp16: 9, tf32: 13}[.] // 11;   # gnuplot: filled; the open one is one less

# ── What the file holds ─────────────────────────────────────────────────────────────────────────────

def points: [(.benchmarks // [])[]
  | (.params.batch | positive) as $batch | (.items_per_second | positive) as $rate
  | select($batch != null and $rate != null)
  | (.stats.median_ns | positive) as $median
  | ([.stats.ci95_ns[]? | positive] | if length == 2 and $median != null and all(.[]; . != null) then . else null end) as $ci
  | {batch: $batch, dtype: (.params.dtype // "?" | clean), rate: $rate,
     # A rate's interval is the time's turned over.
     low: (if $ci == null then $rate else $rate * $median / $ci[1] end),
     high: (if $ci == null then $rate else $rate * $median / $ci[0] end),
     flags: flags, memory: (.memory // {}), bytes: bytes_of(.memory // {})}] | marked;

def missing: [(.unmeasured // [])[]
  | {batch: (.params.batch | positive), dtype: (.params.dtype // "?" | clean), status: (.status // "?" | clean),
     reason: (.reason // "" | clean)}];

# The finding of a dtype; a name without "/dtype" is of a sweep with one dtype.
def finding_of($name; $dtype; $dtypes): [(.findings // [])[] | objects
  | select(.name == "\($name)/\($dtype)" or (.name == $name and $dtypes[0] == $dtype))] | first // {};

# The fitted line at a batch: of the segment between two steps that the batch lies in.
def line_at($batch): ([(.segments // [])[]? | objects | select((.first_batch | positive // infinite) <= $batch)] | last) // .
  | (.fixed_bytes | number) as $fixed | (.slope_bytes | number) as $slope
  | if $fixed == null or $slope == null or $slope <= 0 then empty else $fixed + $slope * $batch end;

# ── Words ───────────────────────────────────────────────────────────────────────────────────────────

# ", batch 512, 1,024 and 2,048"
def listing: if length == 0 then "" elif length == 1 then ", batch \(.[0] | thousands)"
  elif length > 4 then ", \(length) batches from \(first | thousands) to \(last | thousands)"
  else ", batch \(.[:-1] | map(thousands) | join(", ")) and \(last | thousands)" end;

# One note for all points with the same fate: "✕ bf16, batch 512 and 1024: out of memory (…)".
def fates_of_dtypes: group_by([.dtype, .status])[]
  | "✕ \(.[0].dtype)\([.[].batch | values] | unique | listing): \({oom: "out of memory"}[.[0].status] // .[0].status)\(if .[0].reason == "" then "" else " (\(.[0].reason))" end)";

def title: (.sweep.mode // (([.benchmarks[]?, .unmeasured[]?] | first // {}) | .params.mode // (.name // "" | tostring | split("/")[2])) // "") as $mode
  | "\(if is_predicted then "Predicted throughput" else "Throughput" end) and memory against batch: \(workload)\(if $mode == "" then "" else ", \($mode | clean)" end) on \(device)";

# ── A dtype ─────────────────────────────────────────────────────────────────────────────────────────

def dtype_of($d; $dtypes; $points; $best; $scale):
  finding_of("t_inf"; $d; $dtypes) as $t_inf | finding_of("t0"; $d; $dtypes) as $t0 | finding_of("ceiling_batch"; $d; $dtypes) as $ceiling
  | (finding_of("memory_line"; $d; $dtypes).details // {}) as $line | finding_of("largest_batch"; $d; $dtypes) as $largest | ($largest.value | positive) as $fits
  | ([$points[] | select(.dtype == $d)] | sort_by(.batch)) as $own
  | ($t_inf.details.t_inf_per_s // $t_inf.value | positive) as $limit
  | (($t_inf.details.t0_ns // $t0.details.t0_ns) | number) as $t0_ns
  # A limit far above what was measured would flatten the measurements: it is named, not drawn.
  | ($limit != null and $limit <= 1.6 * $best) as $drawn
  | ([$own[] | select(.batch == ($ceiling.value | positive))][0]) as $at
  | ([$t_inf.details.batches[]? | positive // empty] | if . == [] then [$own[].batch, 1] | .[:([length - 1, 1] | max)] else . end) as $fitted
  | {own: $own, line: $line, at: $at, strings: {name: $d, colour: ($d | dtype_colour), shape: ($d | dtype_shape),
     legend: ([$d,
       (if $at == null then empty else "saturates at batch \($at.batch | thousands)\(if $ceiling.details.may_lie_beyond == true then " or beyond" else "" end)" end),
       (if $limit == null then empty else "\(if $drawn then "" else "↑ " end)T∞ \(if $t_inf.details.model_holds == false then "≈ " else "" end)\($limit | figures(3))/s" end),
       (if $t0_ns == null or $t0.details.distinguishable_from_zero == false then empty else "t0 \($t0_ns | duration)" end)] | join(", ")),
     heading: (if (($line.slope_bytes | number) // 0) > 0 then $line | memory_line_text($own[0].batch // 1) else "" end),
     fits: (if $fits == null then "" else "fits to \($fits | thousands)\(if $largest.details.source == "planned" then " (planned)" elif $fits > ($own[-1].batch // 0) then " (extrapolated)" else "" end)" end),
     limit: (if $drawn then $limit / $scale.by else 0 end),
     # The curve, batch over t0 + batch/T∞, over the batches that it was fitted to; not drawn through one point.
     t0: (($t0_ns // 0) / 1e9 * $scale.by), t_inf: (if $limit == null or $t0_ns == null or ($own | length) < 2 then 0 else $limit / $scale.by end),
     first: ($fitted | min), last: ($fitted | max)}};

# ── Everything ──────────────────────────────────────────────────────────────────────────────────────

is_predicted as $predicted | with_predicted | . as $file | points as $points | missing as $missing
# Those without memory come last: they have no panel.
| ([$points[] | select(.bytes > 0) | .dtype] | unique) as $held
| ([$points[].dtype, $missing[].dtype] | unique | sort_by([(. as $d | $held | index($d) == null), dtype_rank])) as $dtypes
# An interval of hardly any samples may reach anywhere: it leaves the picture rather than flatten it.
| ([([$points[].high] | max // 1), 1.4 * ([$points[].rate] | max // 1)] | min) as $best
| ($best | scale_of) as $scale | ([$points[].bytes] | max // 1) as $most | ($most | byte_scale_of) as $bytes
| [$dtypes[] as $d | $file | dtype_of($d; $dtypes; $points; $best; $scale)] as $series
| ([$points[].batch, ($missing[].batch | values)] | unique) as $batches
# So is a cap far above the bars.
| (.sweep.memory_cap_bytes? | positive) as $cap | ($cap != null and $cap <= 1.3 * $most) as $cap_drawn
| [categories[] | .key as $k | select(any($points[]; (.memory[$k] | positive) != null))] as $stack
| [($missing | select(length > 0) | fates_of_dtypes),
    ($points | flag_notes[]), workspace_notes[],
    (if $cap == null or $cap_drawn or $most <= 1 then empty else "↑ cap \($cap | bytes_text), \($cap / $most | figures(2)) times the highest bar" end)] as $notes
| {strings: (around(title; finding("recommendation").claim; []; $notes)
    + {rate_heading: (if $predicted then "Throughput, predicted, with the 80 % interval" else "Throughput, 95 % intervals" end),
       bands: ([$series[] | select($predicted and (.own | length) > 1)] | length),
       measured: ($points | length), panels: ($held | length), batches: ($batches | length), batch_min: ($batches | first // 1), batch_max: ($batches | last // 1),
      how: ([if any($series[].strings; .t_inf > 0) then "curve: fitted" else empty end, if any($series[].strings; .limit > 0) then "dashed: T∞" else empty end,
        if any($series[]; .at != null) then "ring: saturation batch" else empty end] | join("; ")),
      rate_unit: "samples per second\($scale.words)", memory_unit: $bytes.unit,
      rate_top: ([$best / $scale.by, $series[].strings.limit] | max),
      memory_top: (([$most, ($series[] | .line as $line | .own[].batch as $b | $line | line_at($b)), (if $cap_drawn then $cap else empty end)] | max) / $bytes.by),
      caps: (if $cap_drawn then 1 else 0 end), cap: (($cap // 0) / $bytes.by), cap_text: "cap \($cap // 0 | bytes_text)"}
    + ([$series[] | select($predicted and (.own | length) > 1) | {name: .strings.name, colour: .strings.colour}] | numbered("band"))
    + ($series | map(.strings) | numbered("dtype")) + ($stack | map({name: .key, colour}) | numbered("layer"))),
   rates: [$series[] | .strings as $s | .own[] | [.batch, .rate / $scale.by, (if $predicted then .rate else .low end) / $scale.by, (if $predicted then .rate else .high end) / $scale.by, $s.shape - (if .open then 1 else 0 end), $s.colour]],
   saturation: [$series[] | select(.at != null) | [.at.batch, .at.rate / $scale.by, .strings.colour]],
   absent: [$missing[] | select(.batch != null) | [.batch, 0, (.dtype | dtype_colour)]]}
  # The interval of predicted points, as a band.
  + ([[$series[] | select($predicted and (.own | length) > 1)] | to_entries[]
      | {key: "band\(.key + 1)", value: [.value.own[] | [.batch, .low / $scale.by, .high / $scale.by, .rate / $scale.by]]}] | from_entries)
  # A row a batch: its name, its number, the fitted line, bytes by category.
  + ([$series | to_entries[] | .value as $s | {key: "bars\(.key + 1)", value: [$batches[] as $b
      | ([$s.own[] | select(.batch == $b and .bytes > 0)] | first) as $p
      | [($b | thousands)] + (if $p == null then [(if any($missing[]; .dtype == $s.strings.name and .batch == $b) then "✕" else " " end), "NaN"]
          else [($p.bytes / $bytes.by | figures(3)), ([$s.line | line_at($b) | select(. >= 0) / $bytes.by] | first // "NaN")] end)
        + [$stack[] | ($p.memory[.key] | positive // 0) / $bytes.by]]}] | from_entries)
| tables
