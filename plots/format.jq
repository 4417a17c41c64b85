# Numbers and words as people read them.

# Text from a file, made harmless for a table: no tabs, no line ends, no control characters.
def clean: tostring | gsub("[\\x00-\\x1f\\x7f]+"; " ");
def squeeze: gsub(" +"; " ") | sub("^ "; "") | sub(" $"; "");
def shorten($most): if length > $most then .[0:$most - 1] + "…" else . end;

# 1234567 → "1,234,567"; fractions below 0.5 units are dropped.
def thousands: (. + 0.5 | floor | tostring) as $t
  | if ($t | test("e")) then $t
    else [range($t | length; 0; -3) as $to | $t[([$to - 3, 0] | max):$to]] | reverse | join(",") end;

# To so many significant figures: 0.01234 → "0.0123", 61.27 → "61.3", 1234 → "1,230", 8.1e12 → "8.1e12".
def figures($n): if . == 0 then "0"
  elif . < 0 then "−" + (-. | figures($n))
  else (log10 | floor) as $e
  | if $e >= 9 or $e < -4 then (. / pow(10; $e) | figures($n)) + "e\($e)"
    else (pow(10; $n - 1 - $e)) as $f | ((. * $f + 0.5 | floor) / $f) as $r
    | if $e >= $n - 1 then ($r | thousands)
      else ($r | tostring) as $t
      # At most three figures come out of a division by a power of ten: a double's digits may trail off.
      | if ($t | length) > 12 then $t[0:$n + 2 - ([$e, 0] | min)] else $t end end end end;

def duration: if . < 0 then "−" + (-. | duration)
  elif . < 1e3 then "\(figures(3)) ns" elif . < 1e6 then "\(. / 1e3 | figures(3)) µs"
  elif . < 1e9 then "\(. / 1e6 | figures(3)) ms" else "\(. / 1e9 | figures(3)) s" end;

def byte_scale_of: if . < 4096 then {by: 1, unit: "B"} elif . < 4194304 then {by: 1024, unit: "KiB"}
  elif . < 4294967296 then {by: 1048576, unit: "MiB"} elif . < 4398046511104 then {by: 1073741824, unit: "GiB"}
  else {by: 1099511627776, unit: "TiB"} end;
def bytes_text: if . < 0 then "−" + (-. | bytes_text)
  else (if . < 1024 then {by: 1, unit: "B"} elif . < 1048576 then {by: 1024, unit: "KiB"}
    elif . < 1073741824 then {by: 1048576, unit: "MiB"} elif . < 1099511627776 then {by: 1073741824, unit: "GiB"}
    else {by: 1099511627776, unit: "TiB"} end) as $s | "\(. / $s.by | figures(3)) \($s.unit)" end;

# The unit of an axis whose highest value this is.
def scale_of: if . >= 2e12 then {by: 1e12, words: " (10¹²)"} elif . >= 2e9 then {by: 1e9, words: " (10⁹)"}
  elif . >= 2e6 then {by: 1e6, words: " (millions)"} elif . >= 2e4 then {by: 1e3, words: " (thousands)"}
  elif . < 2e-5 then {by: 1e-6, words: " (millionths)"} elif . < 2e-2 then {by: 1e-3, words: " (thousandths)"}
  else {by: 1, words: ""} end;

# Lines of at most so many characters, broken between words.
def wrapped($most): reduce (split(" ")[]) as $word ([]; if length > 0 and ((.[-1] | length) + ($word | length) < $most) then .[:-1] + [.[-1] + " " + $word] else . + [$word] end);

# ── What several pictures share ─────────────────────────────────────────────────────────────────────

def number: if type == "number" then . else null end;
def positive: number | if . != null and . > 0 then . else null end;

# Okabe and Ito's palette, told apart by every kind of colour vision. The gray is for dtypes unknown here.
def dtype_colour: {fp32: 29362, bf16: 13983232, fp16: 40563, tf32: 13400487}[tostring] // 5592405;
def dtype_rank: {fp32: 0, tf32: 1, bf16: 2, fp16: 3}[tostring] // 4;

# Memory categories in the order of the stack, in Paul Tol's muted palette, neighbours far apart.
def categories: [
  {key: "weights", colour: 3351176}, {key: "gradients", colour: 8965870}, {key: "optimizer", colour: 4499097},
  {key: "activations", colour: 14535799}, {key: "input", colour: 13395575}, {key: "workspace", colour: 1144627},
  {key: "other", colour: 12303291}];
def bytes_of($memory): [categories[] | $memory[.key] | positive // 0] | add;

def time_scale: if . >= 2e9 then {by: 1e9, unit: "s"} elif . >= 2e6 then {by: 1e6, unit: "ms"} else {by: 1e3, unit: "µs"} end;

def finding($name): [(.findings // [])[] | objects | select(.name == $name)] | first // {};

# A file of a device that is not here, its points in the place of measured ones.
def is_predicted: (.predicted // []) != [];
def workspace_notes: if is_predicted | not then [] else [.predicted[] | .model.workspace?.planned_by?] as $by
  | ($by | map(strings | clean)) as $planned
  | [if $planned == [] then "cuDNN’s workspaces are not planned: they are estimated, as part of other and activations"
     else "workspace planned by \($planned[0])\(if ($planned | length) < ($by | length) then ", not at every point: else it is estimated, as part of other and activations" else "" end)" end] end;
def with_predicted: .benchmarks = ((.benchmarks // []) + [(.predicted // [])[] | . + {stats: {median_ns: .real_time, ci95_ns: .interval80_ns}, work: {flops: .model.flops?, sample_bytes: .model.bytes?}}]);

def flags: [(.validity.flags // [])[] | tostring] | unique;
# A flag in the words of the run's warning.
def flag_text: {noisy: "wide 95 % interval", few_rounds: "fewer than 3 rounds", "throttled:cpu_contention": "other processes used the CPU",
    disturbed: "most rounds disturbed", mixed_sessions: "sessions that differ"}[.]
  // if startswith("throttled:") then "device throttled (\(ltrimstr("throttled:") | gsub("_"; " ") | clean))"
     elif startswith("above_peak") then "above the device's peak" else gsub("_"; " ") | clean end;
# Flags that separate points: nine of ten points at most have them.
def few($all): length * 10 <= $all * 9;
def separating: length as $all | [.[].flags[]] | group_by(.) | map(select(few($all)) | .[0]);
# Points with .open set: an open mark is of a point with such a flag, and none is open where nearly all would be.
def marked: length as $all | separating as $separating | map(.open = any(.flags[]; . as $f | $separating | index([$f]) != null))
  | if map(select(.open)) | few($all) then . else map(.open = false) end;
# Their flags in one note: those that the open marks are for, then the others, then those of all points.
def flag_notes: . as $points | length as $all | any(.[]; .open) as $opens | separating as $separating
  | def counted: map("\(.text) (\(.count) of \($all) points)") | join(", ");
  [[.[].flags[]] | group_by(.)[] | . as $same | {text: (.[0] | flag_text), count: length, opens: ($opens and ($separating | index($same[:1]) != null))}] as $flags
  | [($flags | map(select(.opens)) | select(length > 0) | "○ open marks: \(counted)"),
     ($flags | map(select((.opens | not) and .count < $all)) | select(length > 0)
       | "\(if $opens or any($points[]; .flags == []) then "" else "each point has a flag: " end)\(counted)"),
     ($flags | map(select(.count == $all) | .text) | select(length > 0) | "\(if $all == 1 then "the only point" else "all \($all) points" end): \(join(", "))")]
  | if length == 0 then [] else [join("; ")] end;

# A line of memory against batch; its constants hold from the first batch of its last segment on, if that is not the smallest.
def memory_line_text($smallest): . as $line | (([(.segments // [])[]? | objects] | last) // $line) as $s | ($s.first_batch | positive) as $from
  | "\($s.fixed_bytes | bytes_text) + \($s.slope_bytes | bytes_text) × batch\(if $from != null and $from > $smallest then " (from batch \($from | thousands))" else "" end)";
def device: .context.device.name // .context.device.id // "an unknown device" | clean | squeeze;
def workload: .sweep.workload | if type == "object" then .name else . end // "workload?" | clean;

# One note for all points with the same fate, numbers in its reason apart; `kinds` names some of them: ", of gemm".
def fates(kinds): [(.unmeasured // [])[] | objects | . + {status: (.status // "?" | clean), reason: (.reason // "" | clean)}]
  | group_by([.status, (.reason | gsub("[0-9][0-9.]*( [a-zµ]+)?"; ""))]) | sort_by(-length)
  | map("✕ \(length) point\(if length == 1 then "" else "s" end) \(.[0].status)\(kinds)\(if .[0].reason == "" then "" else " (\(.[0].reason))" end)");

# [{name, colour, …}, …] as strings: x1, x1_colour, …, and their number, xs.
def numbered($name): reduce to_entries[] as $e ({"\($name)s": length};
  "\($name)\($e.key + 1)" as $key | . + ($e.value | with_entries(.key |= if . == "name" then $key else "\($key)_\(.)" end)));

# Where clauses outside brackets end, below that place: after semicolons where there are some, else after commas.
def clause_ends($below): . as $text
  | [foreach (explode | to_entries[]) as $c (0; . + ({"40": 1, "41": -1}[$c.value | tostring] // 0);
      select(. == 0 and ($c.value == 59 or $c.value == 44) and $text[$c.key + 1:$c.key + 2] == " " and $c.key < $below) | $c)]
  | map(select(.value == 59)) as $semicolons | if $semicolons == [] then . else $semicolons end | map(.key);
# At most so many characters of a sentence: whole clauses where there are some, else whole words before an open bracket.
def cut($most): . as $text | (clause_ends($most) | last) as $stop
  | (if $stop != null then $text[:$stop] else $text[:$most] | sub(" [^ ]*$"; "") | sub(" \\([^)]*$"; "") | sub("[ ,.:;]*$"; "") end) + " …";
# A sentence in two lines of about one length, between clauses where both then fit.
def halved($most): . as $text | length as $n
  | ([clause_ends($most)[] + 1 | select($n - . - 1 <= $most)] | min_by(. - $n / 2 | fabs)) as $at
  | if $n <= $most then [.] elif $at != null then [$text[:$at], $text[$at + 1:]]
    else wrapped($n / 2 + 12) | if length > 2 then $text | wrapped($most) else . end end;

# What stands around each picture: its title, the findings' answer, where it was measured, and notes below. An answer too
# long for its two lines is cut there, and whole among the notes.
def around($title; $answer; $circumstances; $notes):
  ($answer // "" | clean | gsub(" \\[[^\\]]*\\]"; "") | sub("\\.$"; "")) as $whole | ($whole | wrapped(140) | length > 2) as $cut
  | (if $cut then $whole | cut(240) else $whole end) as $short | ($short | halved(140)) as $lines
  | {title: ($title | shorten(122)),
     answer: ($lines[0] // ""), answer_more: ($lines[1] // ""),
     subtitle: ([$circumstances[], (if is_predicted then "predicted for \(.context.device | "\(.framework // "?")\(if .cast == "whole" then " (cast whole to fp16)" else "" end)" | clean)" else
         (.context.host.usable_cores // empty | "\(.) core\(if . == 1 then "" else "s" end)"), (.context.software.onednn // empty | "oneDNN \(clean | squeeze)") end), (.context.date // empty | clean | .[0:16] | sub("T"; " "))]
       | join(" · ") | shorten(170))}
    + ((if $cut then [$whole] else [] end) + $notes | map(wrapped(165) | if length > 2 then [.[0], .[1] + " …"] else . end)
        | if length > 5 then .[0:4] + [["… and \(length - 4) more notes in the result file"]] else . end
        | flatten | map({name: .}) | numbered("note"));

# Strings and tables as the text that a gnuplot script reads: `# strings` with lines of key TAB value, then one
# `# name` block a table, two empty lines apart. `rows_NAME` tells how many rows a table has; `# none` replaces empty ones.
def tables: .strings as $strings | del(.strings)
  | with_entries(.key |= "rows_\(.)" | .value |= ([.[] | values] | length)) as $counts
  # gnuplot takes an odd apostrophe for the beginning of a text that goes on over the next lines.
  | ("# strings", ($strings + $counts | to_entries[] | "\(.key)\t\(.value | tostring | gsub("'"; "’"))")),
    (. + {none: [[range(9) | 1]]} | to_entries[] | "", "", "# \(.key)", (.value[] | if . == null then "" else [.[] | tostring] | join("\t") end));
