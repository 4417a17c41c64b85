# From a result file of the workers sweep to the strings and tables that workers.gp draws (format.jq: tables).
#
# Above: samples a second and AU against workers, a mark a measured point and a line what was simulated. Below: what the
# consumer and each worker did in a few steps. Missing fields give missing marks, never an error.

include "format";

def count_text: if . == 0 then "0" else thousands end;
def workers_text: if . == 0 then "no workers" elif . == 1 then "1 worker" else "\(thousands) workers" end;

def measured: [(.benchmarks // [])[] | objects | select(.name | type == "string") | {key: .name, value: flags}] as $points | ($points | from_entries) as $flags
  | [(.sweep.measured? // [])[]? | objects
  | {workers: (.workers | number), rate: (.images_per_s | positive), low: (.images_per_s_ci95[0]? | number), high: (.images_per_s_ci95[1]? | number),
     au: (.au | number), au_low: (.au_ci95[0]? | number), au_high: (.au_ci95[1]? | number), flagged: (.flagged == true), name}
  | select(.workers != null and .rate != null)
  | .flags = (if .name != null and ($flags[.name | tostring] // []) != [] then $flags[.name | tostring] elif .flagged then ["flagged"] else [] end)]
  | sort_by(.workers) | marked;
def simulated: [(.sweep.simulated.points? // [])[]? | objects
  | {workers: (.workers | number), rate: (.images_per_s | positive), au: (.au | number)} | select(.workers != null and .rate != null)] | sort_by(.workers);
def demands: [(.sweep.simulated.demands? // [])[]? | objects
  | {name: (.name // "?" | clean | shorten(40)), rate: (.images_per_s | positive)} | select(.rate != null)];

# ── The time line ───────────────────────────────────────────────────────────────────────────────────

def whats: [{key: "compute", name: "computes", colour: 40563}, {key: "wait", name: "waits for a batch", colour: 13983232},
  {key: "copy", name: "copies", colour: 13400487}, {key: "make", name: "makes a batch", colour: 29362}];
def what_colour: . as $what | [whats[] | select(.key == $what) | .colour][0] // 12303291;
def lines_of: [(. // [])[]? | objects
  | {who: (.who // "?" | clean), what: (.what // "?" | clean), from: (.from_ns | number), to: (.to_ns | number)}
  | select(.from != null and .to != null and .to > .from)];
# With the most workers that still leave the consumer waiting, so that stalls are visible; else with the fewest.
def chosen_line($knee): [(.benchmarks // [])[] | objects | select(.params.loader? == "pool")
    | {workers: (.params.workers | number), lines: ([(.notes // [])[]? | objects | .timeline // empty] | first | lines_of)}
    | select(.workers != null and (.lines | length) > 0)] | sort_by(.workers) as $all
  | ([$all[] | select($knee != null and .workers >= 1 and .workers < $knee)] | last) // ([$all[] | select(.workers >= 1)] | first) // ($all | first);
def timeline($knee): (chosen_line($knee) // null) as $real
  | if $real != null then $real + {title: "A few steps with \($real.workers | workers_text), measured"}
    elif (.sweep.simulated.timeline.entries? // []) != [] then
      {lines: (.sweep.simulated.timeline.entries | lines_of),
       title: "A few steps with \(.sweep.simulated.timeline.workers | number // "?" | if . == "?" then "workers" else workers_text end), simulated"}
    else {lines: [], title: ""} end;

# Rows from the top: the consumer's computing, its other work, and up to 8 workers.
def rows: [.[] | select(.who != "consumer") | .who] | unique
  | sort_by(try (split(" ") | last | tonumber) catch 0) | .[0:8];
def time_panel($line): $line.lines as $all | ($all | rows) as $workers
  # The window begins where every row has begun, so that it does not show a start that is none.
  | ([$all[] | select(.what == "compute")] | sort_by(.from)) as $steps
  | (if ($steps | length) > 0 then $steps[0].from else ([$all[].from] | min // 0) end) as $opens
  | (if ($steps | length) > 7 then $steps[7].from else ([$all[] | select(.who == "consumer") | .to] | max // ([$all[].to] | max // 1)) end) as $closes
  | ((if $closes > $opens then $closes - $opens else 1 end) | time_scale) as $s
  | {strings: (([$all[] | select(.to > $opens and .from < $closes) | .what] as $drawn | whats | map(select(.key as $k | $drawn | index([$k])) | {name, colour}) | numbered("what"))
     + {time_rows: (($workers | length) + 2), time_unit: $s.unit, time_end: (($closes - $opens) / $s.by), time_title: $line.title}),
     time_bars: [$all[] | select(.to > $opens and .from < $closes)
       | (if .who == "consumer" then (if .what == "compute" then 1 else 2 end) else .who as $who | ($workers | index([$who]) // empty) + 3 end) as $row
       | [$row, ((([.from, $opens] | max), ([.to, $closes] | min)) - $opens) / $s.by, (.what | what_colour)]],
     time_names: [["computing", "consumer", $workers[]] | to_entries[] | [.key + 1, .value]]};

# ── The panels above ────────────────────────────────────────────────────────────────────────────────

def claims: [["plateau", "harm", "simulation_error"][] as $name | finding($name) | .claim | strings | clean];
def title: ([(.benchmarks // [])[] | objects | .params | objects | select(.loader == "pool") | .consumer // empty] | first) as $measured
  | ($measured // .sweep.profile.consumer? // "a consumer" | clean) as $consumer | (.sweep.simulated.gpus? // 1) as $gpus
  | (.sweep.simulated.cores? // .sweep.loader.cores? // .context.host.usable_cores? // "?" | tostring | clean) as $cores
  | "Feeding \(if $measured == null and $gpus != 1 then "\($gpus) times " else "" end)\(if $consumer | test("^[0-9]") then "steps of \($consumer)" else $consumer end) from \($cores) core\(if $cores == "1" then "" else "s" end)\(if $measured == null then ", simulated" else "" end)\(if .sweep.profile.loader? == null then "" else " for your loader" end)";
def circumstances: [(.context.host.cpu? // null | strings | clean | squeeze),
    (.sweep.loader.data? // null | strings | clean | shorten(40) | "data: \(.)"),
    (.sweep.loader.page_cache? // null | strings | clean | "page cache \(.)"),
    (.sweep.loader.storage? // null | objects | "storage limited to \((.bytes_per_s // 0) / 1e6 | figures(3)) MB/s")];

measured as $points | simulated as $line | demands as $demands
| ((finding("knee") | .value | number) // null) as $knee
| ((finding("knee_simulated") | .value | number) // null) as $simulated_knee | ($knee // $simulated_knee) as $mark
| ([$points[], $line[] | .workers] | unique) as $counts
| ([$points[] | .high // .rate] + [$line[].rate] | max // 1) as $most
# A required throughput far above all points would press them into the floor: it is named, not drawn.
| [$demands[] | select(.rate <= 1.6 * $most)] as $drawn | [$demands[] | select(.rate > 1.6 * $most)] as $beyond
# Many counts: every power of two has its name.
| [$counts[] | select(($counts | length) <= 10 or . == 0 or (log2 | . == floor))] as $ticks
| ((if ($beyond | length) == 0 then [] else ["required throughput above the picture: " + ($beyond | map("\(.name) \(.rate | figures(3)) samples/s") | join(", "))] end)
   + ($points | flag_notes) + fates("") + claims) as $notes
| time_panel(timeline($knee)) as $time
| {strings: (around(title; finding("recommended_workers").claim // finding("knee_simulated").claim; circumstances; $notes)
    + {measured: ($points + $line | length), any_au: ([$points[], $line[] | .au | values] | length), last: ($counts | max // 1),
     knee: ($mark // -1), knee_text: (if $mark == null then "" else "dashed: the knee, \($mark | workers_text)"
       + (if $knee == null then ", simulated" elif $simulated_knee == null then ", measured" elif $simulated_knee == $knee then ", measured and simulated"
          else ", measured; the simulation puts it at \($simulated_knee | workers_text)" end) end),
     workers: (if $points == [] and (.sweep.simulated.gpus? // 1) != 1 then "workers a GPU" else "workers" end),
     how: ([if ($points | length) > 0 then "marks: measured, with 95 % interval" else empty end, if ($line | length) > 0 then "line: simulated" else empty end] | join("; "))}
    + ($drawn | sort_by(-.rate) | map({name: "\(.name): \(.rate | figures(3))/s", rate}) | numbered("demand")) + $time.strings),
   ticks: [$ticks[] | [., count_text]],
   rates: [$points[] | [.workers, .rate, (.low // .rate), (.high // .rate), (if .open then 6 else 7 end)]],
   aus: [$points[] | select(.au != null) | [.workers, .au, (.au_low // .au), (.au_high // .au), (if .open then 6 else 7 end)]],
   rate_line: [$line[] | [.workers, .rate]], au_line: [$line[] | select(.au != null) | [.workers, .au]]}
  + ($time | del(.strings))
| tables
