# Draws a result of `bench --sweep cards`: throughput by ranks, and how much of a step waits.
#
#   BENCH_RESULT=results/local/x.json BENCH_PICTURE=results/local/x gnuplot plots/cards.gp
#
# writes x.png and x.svg.

sweep = "cards"
# Without a slash in front gnuplot would read some names as commands, and search for others.
slash = 0
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { slash = i } }
folder = (ARG0[1:1] eq "/" ? "" : "./") . ARG0[1:slash]
load folder . "common.gp"

keys = int(n("keys"))
do for [kind in "png svg"] {
  eval page(500, keys + 2)
  set multiplot layout 1, 2 margins char 12, char 3, char foot + keys + 5.5, char head + 2.5 spacing char 14, 0
  do for [place = 1:2] {
    eval panel
    if (place == 1) { eval heading }
    set title place == 1 ? "Throughput, samples/s" : "A step of the slowest rank, ms" font large
    set xlabel "ranks"
    set xrange [0.5:n("x_max") + 0.5]
    set xtics 1, n("x_max") > 16 ? 8 : 1 font small
    set yrange [0:(place == 1 ? n("y_max") : n("step_max")) * 1.1]
    if (place == 1) { set key at screen 0.5, char foot + keys + 2 center top } else { unset key }
    c = place == 1 ? 2 : 5
    bottom = place == 1 ? 3 : 6
    plot for [i = 1:keys] $data index ("line" . i) using 1:(column(place == 1 ? 2 : 3)) with lines linewidth 1.6 linecolor rgb int(n("key" . i . "_colour")) notitle, \
      for [i = 1:keys] $data index ("line" . i) using 1:(column(place == 1 ? 5 : 4)) with lines dashtype 2 linewidth 1.2 linecolor rgb int(n("key" . i . "_colour")) notitle, \
      $data index "marks" using 1:(column(c)):(column(bottom)):(column(bottom + 1)):9 with yerrorbars pointtype -1 linewidth 1 linecolor rgb variable notitle, \
      $data index "marks" using 1:(column(c)):10:9 with points pointtype variable pointsize 1 * dot linecolor rgb variable notitle, \
      for [i = 1:keys] keyentry with linespoints pointtype int(n("key" . i . "_look")) linewidth 1.6 linecolor rgb int(n("key" . i . "_colour")) title text_of("key" . i), \
      keyentry with lines dashtype 2 linewidth 1.2 linecolor rgb gray title "dashed: left, perfect scaling; right, without waiting"
  }
  unset multiplot
  unset output
}
