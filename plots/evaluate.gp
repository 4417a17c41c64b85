# Draws an evaluation (bench evaluate): throughput and memory against batch for each device, and what a sample costs.
#
#   BENCH_RESULT=results/local/x.json BENCH_PICTURE=results/local/x gnuplot plots/evaluate.gp
#
# writes x.png and x.svg.

sweep = "evaluate"
# Without a slash in front gnuplot would read some names as commands, and search for others.
slash = 0
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { slash = i } }
folder = (ARG0[1:1] eq "/" ? "" : "./") . ARG0[1:slash]
load folder . "common.gp"

devices = int(n("devices"))
panels = int(n("panels"))
all = panels + int(n("memories")) + int(n("bar_sets"))
rows = all > 3 ? 2 : 1
columns = all > 3 ? 2 : all
key_rows = (devices + 1) / 2
colour_of(d) = int(n("device" . d . "_colour"))
shape_of(d) = int(n("device" . d . "_shape"))
rates(p, d) = sprintf("rates%d_%d", p, d)

do for [kind in "png svg"] {
  eval page(460 * rows, key_rows)
  set multiplot layout rows, columns margins char 9, char 3, char foot + key_rows + 5.5, char head + 3.7 spacing char 10, char 9

  # A band for each device's intervals, a ring at its saturation batch.
  do for [p = 1:panels] {
    eval panel . (p == 1 ? heading : "")
    rings = "rings" . p
    set title "Throughput in " . text_of("panel" . p) . "\nband: " . text_of("level") . " interval; ring: saturation batch" font small
    set xlabel "batch"
    if (p == 1) { set ylabel text_of("rate_unit"); set key at screen 0.02, char foot + key_rows + 1 left top maxrows key_rows samplen 1 } else { unset key }
    set logscale x 2
    set format x "%.0f"
    set xrange [n("batch_min") / 1.35:n("batch_max") * 1.35]
    set yrange [0:1.08 * n("rate_top")]
    plot for [d = 1:devices] $data index of(rates(p, d)) using 1:(has(rates(p, d)) ? $3 : NaN):4 with filledcurves fillstyle transparent solid 0.16 noborder linecolor rgb colour_of(d) notitle, \
      for [d = 1:devices] $data index of(rates(p, d)) using 1:(has(rates(p, d)) ? $2 : NaN) with linespoints linewidth 1.8 pointtype shape_of(d) pointsize 1.2 * dot linecolor rgb colour_of(d) notitle, \
      for [i = 1:has(rings)] $data index of(rings) using 1:2:3 with points pointtype 6 pointsize 2.8 * dot linewidth 2.2 linecolor rgb variable notitle, \
      for [d = 1:devices] keyentry with linespoints linewidth 1.8 pointtype shape_of(d) pointsize 1.2 * dot linecolor rgb colour_of(d) title text_of("device" . d . "_legend")
  }

  # Bytes at the peak up to the end of each device's memory, dashed.
  if (n("memories")) {
    eval panel
    set title "Memory in " . text_of("memory_dtype") . "\ndashed: what a device holds, with its largest batch" font small
    set xlabel "batch"
    set ylabel "GiB"
    unset key
    set logscale x 2
    set logscale y 2
    set format x "%.0f"
    set format y "%g"
    set xrange [n("batch_min") / 1.35:n("reach") * 2]
    set yrange [n("size_min") / 1.3:n("size_max") * 1.9]
    plot for [d = 1:devices] known("device" . d . "_cap") with lines dashtype (8, 6) linewidth 1.4 linecolor rgb colour_of(d) notitle, \
      for [d = 1:devices] $data index of("sizes" . d) using 1:(has("sizes" . d) ? $2 : NaN) with lines linewidth 1.8 linecolor rgb colour_of(d) notitle, \
      for [i = 1:has("fits")] $data index of("fits") using 1:2:3 with points pointtype 7 pointsize 1.1 * dot linecolor rgb variable notitle, \
      for [i = 1:has("fits")] $data index of("fits") using 1:(int($0) % 2 ? NaN : $2):4:3 with labels offset 0, 0.8 font small textcolor rgb variable notitle, \
      for [i = 1:n("rows_fits") > 1] $data index of("fits") using 1:(int($0) % 2 ? $2 : NaN):4:3 with labels left offset 1, -0.8 font small textcolor rgb variable notitle
  }

  # What a sample costs at the saturation batch; the bar's ends are those of the throughput's interval.
  if (n("bar_sets")) {
    eval panel
    set title text_of("bar_title") . "\nin " . text_of("memory_dtype") . ", at the saturation batch" font small
    set ylabel text_of("bar_unit")
    unset key
    unset xtics
    set style fill solid 0.75 noborder
    set boxwidth 0.6
    set xtics scale 0 font small
    if (n("crowded")) { set xtics rotate by -20 }
    set xrange [-0.7:n("rows_bars") - 0.3]
    set yrange [0:1.2 * n("bar_top")]
    plot $data index 'bars' using 1:2:5:xtic(6) with boxes linecolor rgb variable notitle, \
      $data index 'bars' using 1:($4 > $3 ? $2 : NaN):3:4 with yerrorbars pointtype -1 linewidth 1.6 linecolor rgb '#303030' notitle, \
      $data index 'bars' using 1:4:7 with labels offset 0, 0.7 font small notitle
  }
  unset multiplot
  unset output
}
