# Draws a result of `bench --sweep transfer`: bandwidth against size for each direction, and a workload's steps below.
#
#   BENCH_RESULT=results/local/x.json BENCH_PICTURE=results/local/x gnuplot plots/transfer.gp
#
# writes x.png and x.svg. Reads the JSON only, through jq; transfer.jq decides what is drawn where. File names
# reach the shell through the environment, so that no character in them is ever read as a command.

folder = ARG0
do for [i = strlen(ARG0):1:-1] { if (ARG0[i:i] eq "/") { folder = ARG0[1:i]; break } else { folder = "" } }
quoted = ""
do for [i = 1:strlen(folder)] { quoted = quoted . (folder[i:i] eq "'" ? "'\\''" : folder[i:i]) }

# Empty where jq is missing or the file is not JSON: the reason stands on stderr.
text = system(sprintf("d='%s'; jq -r -L \"${d:-.}\" -f \"${d:-./}transfer.jq\" < \"$BENCH_RESULT\"", quoted))
if (strlen(text) == 0) { exit status 1 }

# The value behind a key of the first table.
text_of(key) = (from = strstrt(text, "\n" . key . "\t") + strlen(key) + 2, rest = text[from:from + 400], to = strstrt(rest, "\n"), to > 0 ? rest[1:to - 1] : rest)
n(key) = text_of(key) + 0
# One part of a plot command; nothing where the table is empty, which gnuplot would warn about.
part(table, how) = n("rows_" . table) > 0 ? sprintf(", $data index '%s' using ", table) . how : ""

set print $data
print text
unset print
set datafile separator "\t"

picture = system("printf %s \"$BENCH_PICTURE\"")
if (strlen(picture) == 0) { picture = "transfer" }
# gnuplot would run a name that starts with a bar.
if (picture[1:1] ne "/") { picture = "./" . picture }

note_height = 0.023
notes_top = 0.02 + note_height * n("notes") + (n("notes") > 0 ? 0.015 : 0)

do for [kind in "png svg"] {
  if (kind eq "png") {
    set terminal pngcairo size 1600, 1080 font "DejaVu Sans,13" noenhanced background rgb "white"
  } else {
    set terminal svg size 1600, 1080 font "DejaVu Sans,16" noenhanced background rgb "white"
  }
  set output picture . "." . kind

  set multiplot
  set border 3 linecolor rgb "#606060"
  set tics nomirror out scale 0.6 textcolor rgb "#202020"
  set grid ytics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
  unset key
  unset label
  set label 1 text_of("title") at screen 0.5, 0.972 center font ",17" noenhanced
  set label 2 text_of("subtitle") at screen 0.5, 0.942 center textcolor rgb "#555555" noenhanced
  do for [i = 1:int(n("notes"))] {
    set label 2 + i text_of("note" . i) at screen 0.035, 0.02 + note_height * (n("notes") - i) left textcolor rgb "#444444" noenhanced
  }

  if (n("measured") == 0) {
    set label 20 "No point was measured." at screen 0.5, 0.55 center font ",20" textcolor rgb "#990000"
    unset border; unset tics; unset grid
    set xrange [0:1]; set yrange [0:1]
    plot NaN
  } else {
    panels = n("measured_both") > 0 ? "h2d d2h both" : "h2d d2h"
    panel_share = 0.985 / words(panels)
    set label 29 "marks: measured, with 95 % interval; lines: latency + bytes / bandwidth; bent ones are named by the latency at their start … the bandwidth at their end" at screen 0.5, 0.917 center textcolor rgb "#555555"
    do for [place = 1:words(panels)] {
      direction = word(panels, place)
      set tmargin at screen 0.86; set bmargin at screen 0.49
      set lmargin at screen (place - 1) * panel_share + 0.06
      set rmargin at screen place * panel_share
      if (n("measured_" . direction) == 0) {
        unset border; unset tics; unset grid
        set label 30 "No copy ".(direction eq "h2d" ? "to the device" : "to the host")." was measured." at graph 0.5, 0.5 center textcolor rgb "#555555"
        set xrange [0:1]; set yrange [0:1]
        plot NaN
      } else {
        set label 30 (direction eq "h2d" ? "Host to device" : direction eq "d2h" ? "Device to host" : "Both at once, bytes of both ways counted") at graph 0, 1.045 left font ",15"
        set ylabel "GB/s" offset 0.5, 0
        set xlabel "bytes of a copy" offset 0, 0.3
        set logscale x 2; set logscale y 10
        set xrange [n("x_min_" . direction):n("x_max_" . direction)]
        set yrange [n("y_min_" . direction):n("y_max_" . direction)]
        set xtics () nomirror; set ytics () nomirror
        if (n("limit_at_" . direction) > 0) {
          set label 32 text_of("limit_text_" . direction) at graph 0.99, first 1.12 * n("limit_at_" . direction) right textcolor rgb "#555555"
        }
        eval "plot NaN" \
          . part("size_ticks_" . direction, "1:2:xticlabels(3) with points pointtype -1") \
          . part("rate_ticks_" . direction, "1:2:yticlabels(3) with points pointtype -1") \
          . part("limit_" . direction, "1:2 with lines dashtype (2, 4) linewidth 1.6 linecolor rgb '#555555'") \
          . part("crossover_" . direction, "1:2 with lines dashtype (8, 6) linewidth 1.4 linecolor rgb '#888888'") \
          . part("lines_" . direction, "1:2:3 with lines linewidth 1.6 linecolor rgb variable") \
          . part("marks_" . direction, "1:2:3:4:5 with yerrorbars pointtype -1 linewidth 1 linecolor rgb variable") \
          . part("marks_" . direction, "1:2:6:5 with points pointtype variable pointsize 1 linecolor rgb variable") \
          . part("key_" . direction, "1:2:3:4 with labels right textcolor rgb variable") \
          . part("crossover_right_" . direction, "1:2:3 with labels left textcolor rgb '#555555'") \
          . part("crossover_left_" . direction, "1:2:3 with labels right textcolor rgb '#555555'")
        unset logscale xy
      }
      unset label; unset xlabel; unset ylabel
      set border 3 linecolor rgb "#606060"
      set tics nomirror out scale 0.6 textcolor rgb "#202020"
      set grid ytics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
    }

    # A workload's steps.
    set lmargin at screen 0.06; set rmargin at screen 0.985
    set tmargin at screen 0.355; set bmargin at screen notes_top + 0.03
    if (n("bars") == 0) {
      unset border; unset tics; unset grid
      set label 40 "No workload's steps were measured." at graph 0.5, 0.5 center textcolor rgb "#555555"
      set xrange [0:1]; set yrange [0:1]
      plot NaN
    } else {
      set label 40 text_of("bars_title") at screen 0.06, 0.407 left font ",15"
      set label 41 text_of("bars_note") at screen 0.06, 0.381 left textcolor rgb "#555555"
      set ylabel text_of("bars_unit") offset 0.5, 0
      set xrange [-0.6:n("bars") - 0.4]
      set yrange [0:n("bars_top")]
      set xtics () nomirror scale 0; set ytics auto
      set boxwidth 0.34
      set arrow 1 from graph 0, first n("compute") to graph 1, first n("compute") nohead dashtype (8, 6) linewidth 1.4 linecolor rgb "#888888"
      # Intervals are arrows with blunt heads: error bars leave a white hole in their middle, made for a mark.
      eval "plot NaN" \
        . part("bar_names", "1:2:xticlabels(3) with points pointtype -1") \
        . part("serial_bars", "1:2:5 with boxes fill solid 0.85 noborder linecolor rgb variable") \
        . part("beside_bars", "1:2:5 with boxes fill solid 0.45 noborder linecolor rgb variable") \
        . part("serial_bars", "1:3:(0):($4-$3) with vectors heads size graph 0.004,90 linewidth 1.2 linecolor rgb '#303030'") \
        . part("beside_bars", "1:3:(0):($4-$3) with vectors heads size graph 0.004,90 linewidth 1.2 linecolor rgb '#303030'") \
        . part("bar_values", "1:2:3 with labels center offset 0, 0.8 textcolor rgb '#202020'")
      unset arrow 1
    }
    unset label
  }
  unset multiplot
  unset output
  unset label; unset xlabel; unset ylabel
  set tics nomirror
}
