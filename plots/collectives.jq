# From a result file of the collectives sweep to the strings and tables that collectives.gp draws (format.jq: tables).
#
# Left: the time of each operation by size; right: its bus bandwidth. A mark is a measured point with its interval. Missing
# fields give missing marks, never an error.

include "format";

def colours: [29362, 13983232, 40563, 13400487, 5670665];
def look: [7, 5, 9, 13, 15];
def rate_text: if . >= 1e9 then "\(. / 1e9 | figures(3)) GB/s" elif . >= 1e6 then "\(. / 1e6 | figures(3)) MB/s" else "\(. / 1e3 | figures(3)) kB/s" end;
# As nccl-tests has it: what the slowest link carries, over the bytes.
def bus_factor: if .operation == "all-reduce" then 2 * (.ranks - 1) / .ranks elif .operation == "send-receive" then 1 else (.ranks - 1) / .ranks end;

def points: [(.benchmarks // [])[] | objects
  | {operation: (.params.operation // "?" | clean), hosts: (.params.hosts | positive // 1), ranks: (.params.ranks | positive // 2),
     bytes: (.params.bytes | positive), ns: (.stats.median_ns | positive), low: (.stats.ci95_ns[0]? | positive), high: (.stats.ci95_ns[1]? | positive), flags: flags}
  | select(.bytes != null and .ns != null)
  | .low = (.low // .ns) | .high = (.high // .ns) | .moved = .bytes * bus_factor
  | .label = "\(.operation)\(if .hosts > 1 then "/hosts:\(.hosts)" else "" end)"] | marked;
# An axis by its values, so that an interval that reaches anywhere does not flatten the others.
def around_values($axis): {"\($axis)_min": ((min // 1) / 3), "\($axis)_max": ((max // 1) * 3)};
def model_text($series): finding("model/\($series)") | (.details.latency_ns? | number) as $latency
  | if $latency == null then "" else ": latency \([$latency, 0] | max | duration)" + (if (.value | positive) == null then "" else ", \(.value | rate_text)" end) end;

points as $points
| . as $document
| (reduce $points[].label as $own ([]; if index([$own]) then . else . + [$own] end)) as $labels
| def place: .label as $own | $labels | index($own);
  ([$points[].hosts] | max // 1) as $hosts
| ([$points[].ranks] | max // 0) as $ranks
| ($points | flag_notes + ($document | fates(""))) as $notes
| {strings: (around("Collectives between \($ranks) ranks on \(if $hosts > 1 then "\($hosts) hosts" else device end)";
       ([(.findings // [])[] | objects | select((.name // "" | tostring) == "model/all-reduce" or (.name // "" | tostring | startswith("model/all-reduce/")))] | first // {}).claim;
       []; $notes)
     + {measured: ($points | length), x_min: ([$points[].bytes] | min // 1), x_max: ([$points[].bytes] | max // 2)}
     + ([$points[] | .ns / 1e3] | around_values("time")) + ([$points[] | .moved / .ns] | around_values("rate"))
     + ($labels | to_entries | map({name: "\(.value)\(.value as $series | $document | model_text($series))",
          colour: colours[.key % 5], look: look[.key % 5]}) | numbered("key"))),
   marks: [$points[] | place as $i | [.bytes, .ns / 1e3, .low / 1e3, .high / 1e3, .moved / .ns, .moved / .high, .moved / .low,
     colours[$i % 5], (look[$i % 5] - (if .open then 1 else 0 end))]]}
  + ([range($labels | length) as $i | {key: "line\($i + 1)",
       value: ([$points[] | select(place == $i)] | sort_by(.bytes) | map([.bytes, .ns / 1e3, .moved / .ns]))}] | from_entries)
| tables
