# From a result file of the batch sweep to the strings and tables that batch.gp draws (format.jq: tables).
# Missing fields give missing marks, never an error.

include "format";

def dtype_shape: {fp32: 7, bf16: 5, fp16: 9, tf32: 13}[.] // 11;   # gnuplot: filled; the open one is one less
def dtype_rank: {fp32: 0, tf32: 1, bf16: 2, fp16: 3}[.] // 4;

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
     flags: [(.validity.flags // [])[] | tostring | split(":")[0] | gsub("_"; " ")],
     memory: (.memory // {}), bytes: ((.memory // {}) as $m | [categories[] | $m[.key] | positive // 0] | add)}];

def missing: [(.unmeasured // [])[]
  | {batch: (.params.batch | positive), dtype: (.params.dtype // "?" | clean), status: (.status // "?" | clean),
     reason: (.reason // "" | clean)}];

# The finding of a dtype; a name without "/dtype" is of a sweep with one dtype.
def finding($name; $dtype; $dtypes): [(.findings // [])[] | objects
  | select(.name == "\($name)/\($dtype)" or (.name == $name and $dtypes[0] == $dtype))] | first // {};

# The fitted line at a batch: of the segment between two steps that the batch lies in.
def line_at($batch): ([(.segments // [])[]? | objects | select((.first_batch | positive // infinite) <= $batch)] | last) // .
  | (.fixed_bytes | number) as $fixed | (.slope_bytes | number) as $slope
  | if $fixed == null or $slope == null or $slope <= 0 then null else $fixed + $slope * $batch end;

# ── Words ───────────────────────────────────────────────────────────────────────────────────────────

# One note for all points with the same fate: "✕ bf16, batch 512 and 1024: out of memory (…)".
def fates: group_by([.dtype, .status])[]
  | ([.[].batch | select(. != null)] | unique) as $batches
  | {oom: "out of memory"}[.[0].status] as $fate
  | "✕ \(.[0].dtype)\($batches | listing): \($fate // .[0].status)\(if .[0].reason == "" then "" else " (\(.[0].reason))" end)";

def title: (.sweep.workload | if type == "object" then .name else . end // "workload?" | clean) as $workload
  | (.sweep.mode // (([.benchmarks[]?, .unmeasured[]?] | first // {}) | .params.mode // (.name // "" | tostring | split("/")[2])) // "") as $mode
  | "\($workload)\(if $mode == "" then "" else ", \($mode | clean)" end) on \(.context.device.name // .context.device.id // "an unknown device" | clean | squeeze)";

def subtitle: [(.context.host.usable_cores // empty | "\(.) cores"),
    (.context.software.onednn // empty | "oneDNN \(clean | squeeze)"),
    (.context.date // empty | clean | .[0:16] | sub("T"; " "))] | join(" · ");

# ── A dtype ─────────────────────────────────────────────────────────────────────────────────────────

def dtype_of($d; $dtypes; $points; $best):
  finding("t_inf"; $d; $dtypes) as $t_inf | finding("t0"; $d; $dtypes) as $t0 | finding("ceiling_batch"; $d; $dtypes) as $ceiling
  | (finding("memory_line"; $d; $dtypes).details // {}) as $line | (finding("largest_batch"; $d; $dtypes).value | positive) as $fits
  | ([$points[] | select(.dtype == $d)] | sort_by(.batch)) as $own
  | ($t_inf.details.t_inf_per_s // $t_inf.value | positive) as $limit
  | (($t_inf.details.t0_ns // $t0.details.t0_ns) | number) as $t0_ns
  | ([$own[] | select(.batch == ($ceiling.value | positive))][0]) as $at
  | {name: $d, colour: ($d | dtype_colour), shape: ($d | dtype_shape), own: $own, line: $line, limit: $limit, t0_ns: $t0_ns, at: $at,
     # A limit far above what was measured would flatten the measurements: it is named, not drawn.
     drawn: ($limit != null and $limit <= 1.6 * $best),
     legend: ([$d,
       (if $at == null then empty else "saturates at batch \($at.batch | thousands)\(if $ceiling.details.may_lie_beyond == true then " or beyond" else "" end)" end),
       (if $limit == null then empty else "\(if $limit <= 1.6 * $best then "" else "↑ " end)T∞ \(if $t_inf.details.model_holds == false then "≈ " else "" end)\($limit | figures(3))/s" end),
       (if $t0_ns == null or $t0.details.distinguishable_from_zero == false then empty else "t0 \($t0_ns | duration)" end)] | join(", ")),
     heading: ((if (($line.slope_bytes | number) // 0) > 0 then "\($line.fixed_bytes | bytes_text) + \($line.slope_bytes | bytes_text) × batch" else "" end)
       + (if $fits == null then "" else ", fits to \($fits | thousands)\(if $fits > ($own[-1].batch // 0) then " (predicted)" else "" end)" end))};

# ── Everything ──────────────────────────────────────────────────────────────────────────────────────

. as $file | points as $points | missing as $missing
# Those without memory come last: they have no panel.
| ([$points[] | select(.bytes > 0) | .dtype] | unique) as $held
| ([$points[].dtype, $missing[].dtype] | unique | sort_by([(. as $d | $held | index($d) == null), dtype_rank])) as $dtypes
# An interval of hardly any samples may reach anywhere: it leaves the picture rather than flatten it.
| ([([$points[].high] | max // 1), 1.4 * ([$points[].rate] | max // 1)] | min) as $best
| [$dtypes[] as $d | $file | dtype_of($d; $dtypes; $points; $best)] as $series
| ($best | scale_of) as $scale | ([$points[].bytes] | max // 1) as $most | ($most | byte_scale_of) as $bytes
| ([$points[].batch, ($missing[].batch | select(. != null))] | unique) as $batches
| (.sweep.memory_cap_bytes? | positive) as $cap
| [categories[] | .key as $k | select(any($points[]; (.memory[$k] | positive) != null))] as $stack
| ([$points[] | select(.flags != [])] | length) as $flagged
| ([($missing | select(length > 0) | fates),
    (if $flagged == 0 then empty else "○ open marks, \($flagged) of \($points | length) points: \([$points[].flags[]] | unique | join(", "))" end),
    (if $cap == null or $cap <= 1.3 * $most or $most <= 1 then empty else "↑ cap \($cap | bytes_text), \($cap / $most | figures(2)) times the highest bar" end)]
   | if length > 4 then .[0:3] + ["… and \(length - 3) more notes in the result file"] else . end) as $notes
| {strings: ({title: title, subtitle: subtitle, measured: ($points | length), has_memory: ($held | length),
      rate_unit: "samples per second\($scale.words)", memory_unit: $bytes.unit, batches: ($batches | length),
      x_min: (($batches | first // 1) / 1.35), x_max: (($batches | last // 1) * 1.35),
      y_min: (if any($missing[]; .batch != null) then -0.06 * $best / $scale.by else 0 end),
      y_max: (1.08 * ([$best, ($series[] | select(.drawn) | .limit)] | max) / $scale.by),
      memory_max: (1.15 * ([$most, ($series[] | . as $s | .own[] | . as $p | $s.line | line_at($p.batch) // empty), (if $cap != null and $cap <= 1.3 * $most then $cap else empty end)] | max) / $bytes.by),
      cap: (if $cap != null and $cap <= 1.3 * $most then $cap / $bytes.by else 0 end), cap_text: "cap \($cap // 0 | bytes_text)",
      dtypes: ($series | length), categories: ($stack | length), notes: ($notes | length)}
    + ([$series | to_entries[] | (.key + 1) as $i | .value
        | {key: "dtype\($i)", value: .name}, {key: "dtype\($i)_colour", value: .colour}, {key: "dtype\($i)_shape", value: .shape},
          {key: "dtype\($i)_legend", value: .legend}, {key: "dtype\($i)_heading", value: .heading},
          {key: "dtype\($i)_limit", value: (if .limit == null then 0 else .limit / $scale.by end)}, {key: "dtype\($i)_drawn", value: (if .drawn then 1 else 0 end)},
          {key: "dtype\($i)_t0", value: ((.t0_ns // 0) / 1e9 * $scale.by)}, {key: "dtype\($i)_fit", value: (if .limit != null and .t0_ns != null and (.own | length) > 1 then 1 else 0 end)},
          {key: "dtype\($i)_first", value: (.own[0].batch // 1)}, {key: "dtype\($i)_last", value: (.own[-1].batch // 1)}] | from_entries)
    + ([$stack | to_entries[] | {key: "category\(.key + 1)", value: .value.key}, {key: "category\(.key + 1)_colour", value: .value.colour}] | from_entries)
    + ([$notes | to_entries[] | {key: "note\(.key + 1)", value: (.value | shorten(190))}] | from_entries))}
  + ([$series | to_entries[] | (.key + 1) as $i | .value as $s
      | {key: "rates\($i)", value: [$s.own[] | [.batch, .rate / $scale.by, .low / $scale.by, .high / $scale.by, $s.shape - (if .flags == [] then 0 else 1 end)]]},
        {key: "saturation\($i)", value: [$s.at | select(. != null) | [.batch, .rate / $scale.by]]},
        {key: "absent\($i)", value: [$missing[] | select(.dtype == $s.name and .batch != null) | [.batch, -0.03 * $best / $scale.by]]},
        # A row a batch: its name, height of its number, number, height of the fitted line, bytes by category.
        {key: "bars\($i)", value: [$batches[] as $b | ([$s.own[] | select(.batch == $b and .bytes > 0)][0]) as $p
          | ($s.line | line_at($b)) as $y
          | if $p == null then [($b | thousands), 0, (if any($missing[]; .dtype == $s.name and .batch == $b and .status == "oom") then "✕" else " " end), "NaN"] + [$stack[] | 0]
            else [($b | thousands), ([$p.bytes, $y // 0] | max) / $bytes.by, ($p.bytes / $bytes.by | figures(3)), (if $y == null or $y < 0 then "NaN" else $y / $bytes.by end)]
              + [$stack[] | ($p.memory[.key] | positive // 0) / $bytes.by] end]}] | from_entries)
| tables
