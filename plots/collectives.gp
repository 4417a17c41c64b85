# Draws a result of `bench --sweep collectives`: time and bus bandwidth by size.
#
#   BENCH_RESULT=results/local/x.json BENCH_PICTURE=results/local/x gnuplot plots/collectives.gp
#
# writes x.png and x.svg.

sweep = "collectives"
# Without a slash in front gnuplot would read some names as commands, and search for others.
slash = 0
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { slash = i } }
folder = (ARG0[1:1] eq "/" ? "" : "./") . ARG0[1:slash]
load folder . "common.gp"

keys = int(n("keys"))
do for [kind in "png svg"] {
  eval page(500, keys / 2.0 + 1)
  set multiplot layout 1, 2 margins char 12, char 3, char foot + keys / 2 + 5.5, char head + 2.5 spacing char 14, 0
  do for [place = 1:2] {
    eval panel
    if (place == 1) { eval heading }
    set title place == 1 ? "Time of the slowest rank, µs" : "Bus bandwidth, GB/s" font large
    set xlabel "bytes"
    set logscale x 2; set logscale y 10
    eval bytes_tics
    set xtics font small
    set xrange [n("x_min") / 1.5:n("x_max") * 1.5]
    if (place == 1) { set yrange [n("time_min"):n("time_max")] } else { set yrange [n("rate_min"):n("rate_max")] }
    if (place == 1) { set key at screen 0.5, char foot + keys / 2 + 1.5 center top maxrows (keys + 1) / 2 } else { unset key }
    c = place == 1 ? 2 : 5
    bottom = place == 1 ? 3 : 6
    plot for [i = 1:keys] $data index ("line" . i) using 1:(column(place + 1)) with lines linewidth 1.6 linecolor rgb int(n("key" . i . "_colour")) notitle, \
      $data index "marks" using 1:(column(c)):(column(bottom)):(column(bottom + 1)):8 with yerrorbars pointtype -1 linewidth 1 linecolor rgb variable notitle, \
      $data index "marks" using 1:(column(c)):9:8 with points pointtype variable pointsize 1 * dot linecolor rgb variable notitle, \
      for [i = 1:keys] keyentry with linespoints pointtype int(n("key" . i . "_look")) linewidth 1.6 linecolor rgb int(n("key" . i . "_colour")) title text_of("key" . i)
  }
  unset multiplot
  unset output
}
