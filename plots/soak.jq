# Memory over the steps of a long run (--soak), for memory.jq: what the system saw since the first step, a line a
# series, and the growth that the finding claims.

include "format";

def most_soaks: 6;
# Okabe and Ito's palette without its yellow, which is pale on white.
def soak_colours: [29362, 13983232, 40563, 13400487, 5682409, 15113984];

def signed_bytes: if . < 0 then "−" + (-. | bytes_text) else bytes_text end;

def soak_finding($findings; $series): [$findings[] | select(.name == "memory_growth/\($series)")] | first // {};

# "steady over 300 steps, growth −12 B to 40 B a step"
def soak_verdict($steps): (.value | number) as $value | (.details // {} | objects) as $d
  | [.ci95[]? | numbers] as $range
  | if $value == null or ($range | length) != 2 then "\($steps | thousands) step\(if $steps == 1 then " is" else "s are" end) too few to tell growth from noise"
    else (if $d.grows == true then "grows by \($value | signed_bytes) a step (95 %: \($range[0] | signed_bytes) to \($range[1] | signed_bytes)), seen over \($steps | thousands) steps"
        else "steady over \($steps | thousands) steps, growth \($range | unique | map(signed_bytes) | join(" to ")) a step" end)
      + (($d.steps_until_out_of_memory | number) as $left
         | if $left == null then "" else ", out of memory after about \($left | figures(2)) more" end) end;

# [{name, colour, seen: [[step, bytes since the first step], …], line: [[step, bytes], [step, bytes]]}, …]
def soaks($findings): [(.sweep.soak? // [])[] | objects
    | [(.samples // [])[]? | arrays | select((.[0] | type) == "number" and (.[1] | type) == "number") | [.[0], .[1]]] as $samples
    | select(($samples | length) >= 2)
    | (.label // "?" | clean) as $series | ($samples[0][1]) as $start | soak_finding($findings; $series) as $finding
    | ($finding.details.first_step? | number) as $from | ($finding.details.last_step? | number) as $to
    | ([$samples[] | select(.[0] == $from) | .[1] - $start] | first) as $from_bytes
    | {name: ("\($series)\(if (.batch | positive) == null then "" else ", batch \(.batch | thousands)" end): \($finding | soak_verdict($samples[-1][0]))" | shorten(165)),
       seen: [$samples[] | [.[0], .[1] - $start]],
       line: (if $from_bytes == null or $to == null or ($finding.value | number) == null then []
              else [[$from, $from_bytes], [$to, $from_bytes + $finding.value * ($to - $from)]] end)}]
  | [to_entries[:most_soaks][] | .value + {colour: soak_colours[.key]}] as $drawn
  | if length > most_soaks then $drawn + [{name: "… and \(length - most_soaks) more in the result file", seen: [], line: [], colour: 5592405}] else $drawn end;

# The panel's strings and tables.
def soak_panel($soaks): ([$soaks[] | .seen[], .line[] | .[1] | fabs] | max // 0) as $most
  # Less than 16 pages is no memory to speak of.
  | ([$most, 65536] | max | byte_scale_of) as $scale
  | {strings: ({soak_unit: $scale.unit, soak_least: (65536 / $scale.by)} + ($soaks | map({name, colour}) | numbered("soak"))),
     tables: ([$soaks | to_entries[] | .key as $i | .value
       | {key: "soak\($i + 1)", value: [.seen[] | [.[0], .[1] / $scale.by]]},
         {key: "soak_line\($i + 1)", value: [.line[] | [.[0], .[1] / $scale.by]]}] | from_entries)};
