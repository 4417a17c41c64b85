# Draws a result of `bench --sweep batch`: throughput against batch, and memory against batch for each dtype.
#
#   BENCH_RESULT=results/local/x.json BENCH_PICTURE=results/local/x gnuplot plots/batch.gp
#
# writes x.png and x.svg.

sweep = "batch"
# Without a slash in front gnuplot would read some names as commands, and search for others.
slash = 0
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { slash = i } }
folder = (ARG0[1:1] eq "/" ? "" : "./") . ARG0[1:slash]
load folder . "common.gp"

dtypes = int(n("dtypes"))
panels = int(n("panels"))
layers = int(n("layers"))
key_rows = dtypes > 3 ? dtypes : 3
rows = panels > 2 ? 2 : 1
columns = panels > 3 ? 3 : panels == 1 || panels == 2 ? panels + 1 : 2
crowded = n("batches") * columns > 36
colour_of(thing) = int(n(thing . "_colour"))
curve(d, x) = x < 0.99 * n(d . "_first") || x > 1.01 * n(d . "_last") ? NaN : x / (n(d . "_t0") + x / known(d . "_t_inf"))
# A bar with its fitted line across it: the higher of the two.
top(line) = (bar = (sum [c = 1:layers] column(3 + c)), line > bar ? line : bar)

do for [kind in "png svg"] {
  eval page(480 * rows, key_rows)
  set multiplot layout rows, columns margins char 9, char 2, char foot + key_rows + 4.5, char head + 4.7 spacing char 9, char 9
  eval panel . heading
  key_at = foot + key_rows + 0.5

  # Marks with 95 % intervals, the fitted curve, its limit dashed, a ring at the saturation batch.
  set title text_of("rate_heading") . "\n" . text_of("how") . "\n " font small
  set key at graph 0, char key_at left top maxcols 1 samplen 1
  set xlabel "batch"
  set ylabel text_of("rate_unit")
  set logscale x 2
  set format x "%.0f"
  set xrange [n("batch_min") / 1.35:n("batch_max") * 1.35]
  set yrange [0:1.08 * n("rate_top")]
  plot for [i = 1:int(n("bands"))] $data index of("band" . i) using 1:2:3 with filledcurves fillstyle transparent solid 0.15 noborder linecolor rgb colour_of("band" . i) notitle, \
    for [i = 1:int(n("bands"))] $data index of("band" . i) using 1:4 with lines linewidth 1.2 linecolor rgb colour_of("band" . i) notitle, \
    for [i = 1:dtypes] known("dtype" . i . "_limit") with lines dashtype (8, 6) linewidth 1.6 linecolor rgb colour_of("dtype" . i) notitle, \
    for [i = 1:dtypes] curve("dtype" . i, x) with lines linewidth 1.2 linecolor rgb colour_of("dtype" . i) notitle, \
    $data index 'rates' using 1:2:3:4:6 with yerrorbars pointtype -1 linewidth 1.6 linecolor rgb variable notitle, \
    $data index 'rates' using 1:2:5:6 with points pointtype variable pointsize 1.3 * dot linewidth 1.6 linecolor rgb variable notitle, \
    for [i = 1:has("saturation")] $data index of("saturation") using 1:2:3 with points pointtype 6 pointsize 3 * dot linewidth 2.4 linecolor rgb variable notitle, \
    for [i = 1:has("absent")] $data index of("absent") using 1:2:3 with points pointtype 2 pointsize 1.4 * dot linewidth 2.6 linecolor rgb variable notitle, \
    for [i = 1:dtypes] keyentry with points pointtype int(n("dtype" . i . "_shape")) pointsize 1.3 * dot linecolor rgb colour_of("dtype" . i) title text_of("dtype" . i . "_legend")

  # Memory at the peak: a stack a batch, its number above it, the fitted line across it.
  set style histogram rowstacked
  set style fill solid 1 noborder
  set boxwidth 0.8
  do for [i = 1:panels] {
    bars = "bars" . i
    eval panel
    set title "Memory in " . text_of("dtype" . i) . "\n" . text_of("dtype" . i . "_heading") . "\n" . text_of("dtype" . i . "_fits") textcolor rgb colour_of("dtype" . i) font small
    set xlabel "batch"
    set xtics scale 0 font small
    if (crowded) { set xtics rotate by -45 }
    if (i == 1) { set ylabel text_of("memory_unit") }
    if (i == panels) { set key at screen 0.985, char key_at right top maxrows 3 } else { unset key }
    set errorbars 0
    set xrange [-0.6:n("batches") - 0.4]
    set yrange [0:(crowded ? 1.25 : 1.15) * n("memory_top")]
    plot for [c = 1:layers] $data index bars using 3 + c:xtic(1) with histograms linecolor rgb colour_of("layer" . c) title text_of("layer" . c), \
      $data index bars using 0:3:(0.45) with xerrorbars pointtype -1 linewidth 2 linecolor rgb 'black' title 'fitted line', \
      for [c = 1:int(n("caps"))] n("cap") with lines dashtype (10, 5) linewidth 2 linecolor rgb '#cc0000' title text_of('cap_text'), \
      for [i = 1:!crowded] $data index bars using 0:(top(valid(3) ? column(3) : 0)):2 with labels boxed center offset 0, 0.6 font small notitle, \
      for [i = 1:crowded] $data index bars using 0:(top(valid(3) ? column(3) : 0)):2 with labels rotate by 90 left offset 0, 0.3 font small notitle
  }
  if (panels == 0) { eval panel . sentence("The file holds no memory figures.") }
  unset multiplot
  unset output
}
