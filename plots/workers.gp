# Draws a result of `bench --sweep workers`: images a second and AU against workers, and a few steps' time line below.
#
#   BENCH_RESULT=results/local/x.json BENCH_PICTURE=results/local/x gnuplot plots/workers.gp
#
# writes x.png and x.svg. workers.jq decides what is drawn where.

sweep = "workers"
folder = ARG0
do for [i = strlen(ARG0):1:-1] { if (ARG0[i:i] eq "/") { folder = ARG0[1:i]; break } else { folder = "" } }
# Without a slash in front gnuplot would read some names as commands, and search for others.
if (folder[1:1] ne "/") { folder = "./" . folder }
load folder . "common.gp"

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

  if (n("points") == 0) {
    set label 20 "No point was measured." at screen 0.5, 0.55 center font ",20" textcolor rgb "#990000"
    unset border; unset tics; unset grid
    set xrange [0:1]; set yrange [0:1]
    plot NaN
  } else {
    set tmargin at screen 0.845; set bmargin at screen 0.50
    set xrange [-0.25:n("x_max")]
    set xtics () nomirror
    set xlabel text_of("workers") offset 0, 0.3

    set lmargin at screen 0.06; set rmargin at screen (n("rows_demand_names") > 0 ? 0.40 : 0.475)
    set label 30 "Images a second" at graph 0, 1.13 left font ",15"
    set label 31 text_of("how") at graph 0, 1.055 left textcolor rgb "#555555"
    set ylabel "images/s" offset 0.5, 0
    set yrange [0:n("rate_top")]; set ytics auto
    eval "plot NaN" \
      . part("ticks", "1:2:xticlabels(3) with points pointtype -1") \
      . part("knee_rate", "1:2 with lines dashtype (8, 6) linewidth 1.4 linecolor rgb '#888888'") \
      . part("demand_lines", "1:2 with lines dashtype (2, 4) linewidth 1.6 linecolor rgb '#CC79A7'") \
      . part("demand_names", "1:2:3 with labels left offset 0.6, 0 textcolor rgb '#8A3A68'") \
      . part("rate_line", "1:2 with lines linewidth 1.8 linecolor rgb '#E69F00'") \
      . part("rates", "1:2:3:4 with yerrorbars pointtype -1 linewidth 1.2 linecolor rgb '#0072B2'") \
      . part("rates", "1:2:5 with points pointtype variable pointsize 1.1 linecolor rgb '#0072B2'")

    unset label
    set lmargin at screen 0.56; set rmargin at screen 0.985
    if (n("any_au") == 0) {
      unset border; unset tics; unset grid; unset xlabel; unset ylabel
      set label 30 "No AU: computing with ready data was not measured." at graph 0.5, 0.5 center textcolor rgb "#555555"
      set xrange [0:1]; set yrange [0:1]
      plot NaN
    } else {
      set label 30 "AU (1: as with a loader that does nothing)" at graph 0, 1.13 left font ",15"
      set label 31 text_of("knee") at graph 0, 1.055 left textcolor rgb "#555555"
      unset ylabel
      set yrange [0:n("au_top")]
      set ytics 0.2
      eval "plot NaN" \
        . part("ticks", "1:2:xticlabels(3) with points pointtype -1") \
        . part("knee_au", "1:2 with lines dashtype (8, 6) linewidth 1.4 linecolor rgb '#888888'") \
        . part("au_line", "1:2 with lines linewidth 1.8 linecolor rgb '#E69F00'") \
        . part("aus", "1:2:3:4 with yerrorbars pointtype -1 linewidth 1.2 linecolor rgb '#0072B2'") \
        . part("aus", "1:2:5 with points pointtype variable pointsize 1.1 linecolor rgb '#0072B2'")
    }
    unset label; unset xlabel; unset ylabel
    set border 3 linecolor rgb "#606060"
    set tics nomirror out scale 0.6 textcolor rgb "#202020"

    # A few steps.
    set lmargin at screen 0.09; set rmargin at screen 0.985
    set tmargin at screen 0.375; set bmargin at screen notes_top + 0.06
    if (n("time_rows") == 0) {
      unset border; unset tics; unset grid
      set label 40 "No step's time line was kept." at graph 0.5, 0.5 center textcolor rgb "#555555"
      set xrange [0:1]; set yrange [0:1]
      plot NaN
    } else {
      set label 40 text_of("time_title") at screen 0.035, 0.418 left font ",15"
      set label 41 "■ computing" at screen 0.61, 0.418 left textcolor rgb 40563
      set label 42 "■ waits for a batch" at screen 0.70, 0.418 left textcolor rgb 13983232
      set label 43 "■ copies" at screen 0.825, 0.418 left textcolor rgb 5682409
      set label 44 "■ makes a batch" at screen 0.89, 0.418 left textcolor rgb 29362
      set border 1
      unset grid
      set xrange [0:n("time_end")]; set xtics auto
      set xlabel text_of("time_unit") offset 0, 0.5
      set yrange [0.4:n("time_rows") + 0.6]; set ytics () nomirror scale 0
      eval "plot NaN" \
        . part("time_names", "1:2:yticlabels(3) with points pointtype -1") \
        . part("time_bars", "1:2:3:4:5:6:7 with boxxyerror fill solid 0.85 border rgb 'white' linewidth 0.6 linecolor rgb variable")
    }
    unset label; unset xlabel
  }
  unset multiplot
  unset output
  unset label; unset xlabel; unset ylabel
  set tics nomirror
}
