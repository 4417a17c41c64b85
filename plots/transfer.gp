# Draws a result of `bench --sweep transfer`: bandwidth against size for each direction, and a workload's steps below.
#
#   BENCH_RESULT=results/local/x.json BENCH_PICTURE=results/local/x gnuplot plots/transfer.gp
#
# writes x.png and x.svg.

sweep = "transfer"
# Without a slash in front gnuplot would read some names as commands, and search for others.
slash = 0
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { slash = i } }
folder = (ARG0[1:1] eq "/" ? "" : "./") . ARG0[1:slash]
load folder . "common.gp"

if (has("predicted")) {
  do for [kind in "png svg"] {
    eval page(480, 0)
    eval panel . heading
    set lmargin 12; set bmargin 5 + foot; set tmargin head + 1
    set ylabel "ms, 80 % interval"; set xlabel "batch"
    set logscale xy
    set xrange [n("batch_min") / 1.2:n("batch_max") * 1.2]
    set xtics (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
    set key bottom right
    plot $data index of("predicted") using 1:3:4 with filledcurves fill solid 0.2 noborder linecolor rgb 29362 notitle, \
      $data index of("predicted") using 1:2 with linespoints pointtype 7 linewidth 1.6 linecolor rgb 29362 title 'step, predicted', \
      for [i = 1:strlen(text_of("bus_text")) > 0] $data index of("predicted") using 1:5 with linespoints pointtype 5 linewidth 1.6 linecolor rgb 13983232 title text_of("bus_text")
    unset output
  }
  exit gnuplot
}

directions = n("measured_both") > 0 ? "h2d d2h both" : "h2d d2h"
columns = words(directions)
title_of(d) = d eq "h2d" ? "Host to device" : d eq "d2h" ? "Device to host" : "Both at once, bytes of both ways counted"
entry(d, host) = strlen(text_of("key_" . d . "_" . host)) > 0

do for [kind in "png svg"] {
  eval page(820, 0)
  set multiplot
  eval panel . heading

  set size 1.0 / columns, 500.0 / height
  do for [place = 1:columns] {
    d = word(directions, place)
    set origin (place - 1.0) / columns, (line * foot + 320.0) / height
    if (n("measured_" . d) == 0) {
      eval sentence("No copy ".(d eq "h2d" ? "to the device" : "to the host")." was measured.")
    } else {
      set title title_of(d) font large
      if (place == 1) { set ylabel "GB/s, by the size of a copy" }
      set key outside bottom center vertical maxrows 5
      set logscale x 2; set logscale y 10
      set xrange [n("x_min_" . d) / 1.3:n("x_max_" . d) * 1.3]
      # Room for one of the axis's numbers at least.
      room = n("y_max_" . d) < 4 * n("y_min_" . d) ? 2 : 1.2
      set yrange [n("y_min_" . d) / room:n("y_max_" . d) * room]
      eval bytes_tics; set xtics font small
      set ytics (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
      if (n("crossover_" . d) > 0) {
        set arrow 1 from first n("crossover_" . d), graph 0 to first n("crossover_" . d), graph 1 nohead dashtype (8, 6) linewidth 1.4 linecolor rgb "#888888"
      }
      plot $data index "marks_" . d using 1:2:3:4:5 with yerrorbars pointtype -1 linewidth 1 linecolor rgb variable notitle, \
        for [i = 1:has("lines_" . d)] $data index of("lines_" . d) using 1:2:3 with lines linewidth 1.6 linecolor rgb variable notitle, \
        $data index "marks_" . d using 1:2:6:5 with points pointtype variable pointsize 1 * dot linecolor rgb variable notitle, \
        for [host in "pinned pageable staged"] for [i = 1:entry(d, host)] keyentry with linespoints pointtype 7 linewidth 1.6 linecolor rgb int(n("colour_" . host)) title text_of("key_" . d . "_" . host), \
        for [i = 1:n("limit_" . d) > 0] n("limit_" . d) with lines dashtype (2, 4) linewidth 1.6 linecolor rgb gray title text_of("limit_text_" . d), \
        for [i = 1:n("crossover_" . d) > 0] keyentry with lines dashtype (8, 6) linewidth 1.4 linecolor rgb '#888888' title text_of("crossover_text_" . d)
    }
    eval panel
  }

  # A workload's steps: two bars a kind of memory. Intervals are arrows with blunt heads: error bars leave a white hole in
  # their middle, made for a mark.
  set size 1, 320.0 / height
  set origin 0, line * foot / height
  if (!has("steps")) {
    eval sentence("No workload''s steps were measured.")
  } else {
    set title text_of("steps_title") font large
    set ylabel text_of("steps_unit")
    set xrange [-0.6:n("rows_steps") - 0.4]
    set yrange [0:*]
    set offsets 0, 0, graph 0.12, 0
    set xtics scale 0
    set boxwidth 0.34
    set key outside bottom center horizontal maxrows 1
    plot n("compute") with lines dashtype (8, 6) linewidth 1.4 linecolor rgb '#888888' title 'computing alone', \
      $data index 'steps' using ($0 - 0.19):3:2:xticlabels(1) with boxes fill solid 0.85 noborder linecolor rgb variable notitle, \
      $data index 'steps' using ($0 + 0.19):7:2 with boxes fill solid 0.45 noborder linecolor rgb variable notitle, \
      for [c in "4 8"] $data index 'steps' using ($0 + 0.095 * (c - 6)):(column(int(c))):(0):(column(c + 1) - column(int(c))) with vectors heads size graph 0.004,90 linewidth 1.2 linecolor rgb '#303030' notitle, \
      for [c in "5 9"] $data index 'steps' using ($0 + 0.095 * (c - 7)):(column(int(c))):(stringcolumn(c + 1)) with labels center offset 0, 0.8 notitle, \
      keyentry with boxes fill solid 0.85 noborder linecolor rgb '#606060' title 'left: copy, then compute', \
      keyentry with boxes fill solid 0.45 noborder linecolor rgb '#606060' title 'right: overlapped with the next copy'
  }
  unset multiplot
  unset output
}
