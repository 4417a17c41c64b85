# Draws a result of `bench --sweep transfer`: bandwidth against size for each direction, and a workload's steps below.
#
#   BENCH_RESULT=results/local/x.json BENCH_PICTURE=results/local/x gnuplot plots/transfer.gp
#
# writes x.png and x.svg. transfer.jq decides what is drawn where.

sweep = "transfer"
folder = ARG0
do for [i = strlen(ARG0):1:-1] { if (ARG0[i:i] eq "/") { folder = ARG0[1:i]; break } else { folder = "" } }
# Without a slash in front gnuplot would read some names as commands, and search for others.
if (folder[1:1] ne "/") { folder = "./" . folder }
load folder . "common.gp"

note_height = 0.023
notes_top = 0.02 + note_height * n("notes")
kinds = "pinned pageable staged"

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
  set key outside bottom center vertical maxrows 5 samplen 2 Left reverse
  unset label
  set label 1 text_of("title") at screen 0.5, 0.972 center font ",17" noenhanced
  set label 2 text_of("subtitle") at screen 0.5, 0.942 center textcolor rgb "#555555" noenhanced
  do for [i = 1:int(n("notes"))] {
    set label 2 + i text_of("note" . i) at screen 0.035, 0.02 + note_height * (n("notes") - i) left textcolor rgb "#444444" noenhanced
  }

  panels = n("measured") == 0 ? "none" : n("measured_both") > 0 ? "h2d d2h both" : "h2d d2h"
  do for [place = 1:words(panels)] {
    direction = word(panels, place)
    set size 1.0 / words(panels), 0.52
    set origin (place - 1.0) / words(panels), 0.41
    if (direction eq "none" ? 1 : n("measured_" . direction) == 0) {
      unset border; unset tics; unset grid
      unset title; unset ylabel
      set label 30 (direction eq "none" ? "No point was measured." : "No copy ".(direction eq "h2d" ? "to the device" : "to the host")." was measured.") at graph 0.5, 0.5 center textcolor rgb "#555555"
      set xrange [0:1]; set yrange [0:1]
      plot NaN notitle
    } else {
      set title (direction eq "h2d" ? "Host to device" : direction eq "d2h" ? "Device to host" : "Both at once, bytes of both ways counted") font ",15"
      set ylabel "GB/s, by the size of a copy"
      set logscale x 2; set logscale y 10
      set xrange [n("x_min_" . direction):n("x_max_" . direction)]
      set yrange [n("y_min_" . direction):n("y_max_" . direction)]
      set format x "%.0b %BB"; set xtics 1024, 16; set format y "%g"; set ytics (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)
      if (n("crossover_" . direction) > 0) {
        set arrow 1 from first n("crossover_" . direction), graph 0 to first n("crossover_" . direction), graph 1 nohead dashtype (8, 6) linewidth 1.4 linecolor rgb "#888888"
      }
      entries = ""
      do for [host in kinds] {
        name = text_of("key_" . direction . "_" . host)
        if (strlen(name) > 0) {
          entries = entries . sprintf(", keyentry with linespoints pointtype 7 linewidth 1.6 linecolor rgb %d title text_of('key_%s_%s')", n("colour_" . host), direction, host)
        }
      }
      eval "plot $data index 'marks_" . direction . "' using 1:2:3:4:5 with yerrorbars pointtype -1 linewidth 1 linecolor rgb variable notitle" \
        . part("lines_" . direction, "1:2:3 with lines linewidth 1.6 linecolor rgb variable notitle") \
        . part("marks_" . direction, "1:2:6:5 with points pointtype variable pointsize 1 linecolor rgb variable notitle") \
        . entries \
        . (n("limit_" . direction) > 0 ? sprintf(", %.9g with lines dashtype (2, 4) linewidth 1.6 linecolor rgb '#555555' title text_of('limit_text_%s')", n("limit_" . direction), direction) : "") \
        . (n("crossover_" . direction) > 0 ? sprintf(", keyentry with lines dashtype (8, 6) linewidth 1.4 linecolor rgb '#888888' title text_of('crossover_text_%s')", direction) : "")
      unset logscale xy; unset arrow 1
    }
    unset label
    set border 3 linecolor rgb "#606060"
    set tics nomirror out scale 0.6 textcolor rgb "#202020"
    set grid ytics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
  }

  # A workload's steps.
  unset title
  set size 1, 0.39 - notes_top
  set origin 0, notes_top
  if (n("bars") == 0) {
    unset border; unset tics; unset grid
    unset ylabel
    set label 40 "No workload's steps were measured." at graph 0.5, 0.5 center textcolor rgb "#555555"
    set xrange [0:1]; set yrange [0:1]
    plot NaN notitle
  } else {
    set title text_of("bars_title") font ",15"
    set ylabel text_of("bars_unit")
    set xrange [-0.6:n("bars") - 0.4]
    set yrange [0:*]
    set offsets 0, 0, graph 0.12, 0
    set format x "%g"; set xtics () scale 0; set ytics auto
    set boxwidth 0.34
    set key outside bottom center horizontal maxrows 1
    # Intervals are arrows with blunt heads: error bars leave a white hole in their middle, made for a mark.
    eval sprintf("plot %.9g with lines dashtype (8, 6) linewidth 1.4 linecolor rgb '#888888' title 'computing alone'", n("compute")) \
      . part("bar_names", "1:2:xticlabels(3) with points pointtype -1 notitle") \
      . part("serial_bars", "1:2:5 with boxes fill solid 0.85 noborder linecolor rgb variable notitle") \
      . part("beside_bars", "1:2:5 with boxes fill solid 0.45 noborder linecolor rgb variable notitle") \
      . part("serial_bars", "1:3:(0):($4-$3) with vectors heads size graph 0.004,90 linewidth 1.2 linecolor rgb '#303030' notitle") \
      . part("beside_bars", "1:3:(0):($4-$3) with vectors heads size graph 0.004,90 linewidth 1.2 linecolor rgb '#303030' notitle") \
      . part("bar_values", "1:2:3 with labels center offset 0, 0.8 textcolor rgb '#202020' notitle") \
      . ", keyentry with boxes fill solid 0.85 noborder linecolor rgb '#606060' title 'left: copy, then compute'" \
      . ", keyentry with boxes fill solid 0.45 noborder linecolor rgb '#606060' title 'right: overlapped with the next copy'"
    set offsets 0, 0, 0, 0
  }
  unset multiplot
  unset output
  unset label; unset ylabel; unset title
  set xtics auto; set ytics auto; set format
}
