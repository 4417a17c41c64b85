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

# ", batch 512, 1,024 and 2,048"
def listing: if length == 0 then "" elif length == 1 then ", batch \(.[0] | thousands)"
  elif length > 4 then ", \(length) batches from \(first | thousands) to \(last | thousands)"
  else ", batch \(.[:-1] | map(thousands) | join(", ")) and \(last | thousands)" end;

# ── What several pictures share ─────────────────────────────────────────────────────────────────────

def number: if type == "number" then . else null end;
def positive: number | if . != null and . > 0 then . else null end;

# Okabe and Ito's palette, told apart by every kind of colour vision. The gray is for dtypes unknown here.
def dtype_colour: {fp32: 29362, bf16: 13983232, fp16: 40563, tf32: 13400487}[tostring] // 5592405;

# Memory categories in the order of the stack, in Paul Tol's muted palette, neighbours far apart.
def categories: [
  {key: "weights", colour: 3351176}, {key: "gradients", colour: 8965870}, {key: "optimizer", colour: 4499097},
  {key: "activations", colour: 14535799}, {key: "input", colour: 13395575}, {key: "workspace", colour: 1144627},
  {key: "other", colour: 12303291}];

# Named strings and tables as the text that a gnuplot script reads: `# strings` with lines of key TAB value,
# then one `# name` block a table, two empty lines apart. `rows_NAME` tells how many rows a table has.
def tables: .strings as $strings | del(.strings)
  | (to_entries | map({key: "rows_\(.key)", value: ([.value[] | select(. != null)] | length)}) | from_entries) as $counts
  | ("# strings", ($strings + $counts | to_entries[] | "\(.key)\t\(.value)")),
    (to_entries[] | "", "", "# \(.key)", (.value[] | if . == null then "" else [.[] | tostring] | join("\t") end));
