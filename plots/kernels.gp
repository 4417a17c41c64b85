# Draws a result of `bench --sweep kernels`: bandwidth against bytes touched next to the roofline.
#
#   BENCH_RESULT=results/local/x.json BENCH_PICTURE=results/local/x gnuplot plots/kernels.gp
#
# writes x.png and x.svg.

sweep = "kernels"
# Without a slash in front gnuplot would read some names as commands, and search for others.
slash = 0
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { slash = i } }
folder = (ARG0[1:1] eq "/" ? "" : "./") . ARG0[1:slash]
load folder . "common.gp"

modes = int(n("modes"))
roofs = int(n("roofs"))
shapes = int(n("shapes"))
colour_of(thing) = int(n(thing . "_colour"))
key_rows = (roofs + shapes + 1) / 2
smaller(a, b) = a < b ? a : b
# A little beyond its ends, for two lines to meet at a ridge.
roof(r, x) = x < 0.97 * n(r . "_from") || x > 1.03 * n(r . "_to") ? NaN : smaller(x * n(r . "_slope"), known(r . "_peak"))
maker(m, x) = smaller(x * n(m . "_slope"), known(m . "_peak"))
do for [kind in "png svg"] {
  eval page(540, key_rows)
  set multiplot layout 1, 2 margins char 13, char 3, char foot + key_rows + 4.5, char head + 3.5 spacing char 18, 0
  eval panel . heading

  if (!has("marks")) {
    eval sentence("No stream kernel was measured.")
  } else {
    set grid xtics
    set title "What memory and caches deliver\n" . text_of("stream_how") font small
    set key at graph 0, char foot + key_rows + 0.5 left top maxrows 1
    set xlabel "bytes touched"; set ylabel "read and written"
    set logscale x 2; set xrange [n("bytes_min") / 1.5:n("bytes_max") * 1.5]
    eval bytes_tics
    # Below 10 of a unit its tics are half a unit apart.
    few = n("bandwidth_max") > 0 && n("bandwidth_max") < 10 * 1000**floor(log10(n("bandwidth_max")) / 3)
    set yrange [0:1.08 * n("bandwidth_max")]; set format y few ? "%.1s %cB/s" : "%.0s %cB/s"
    plot for [i = 1:has("hot")] $data index of("hot") using 1:2:3 with lines linewidth 1.8 linecolor rgb variable notitle, \
      for [i = 1:has("cold")] $data index of("cold") using 1:2:3 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb variable notitle, \
      for [i = 1:has("mark_bars")] $data index of("mark_bars") using 1:2:3:4:5 with yerrorbars pointtype -1 linewidth 1 linecolor rgb variable notitle, \
      $data index 'marks' using 1:2:4:3 with points pointtype variable pointsize 1.2 * dot linewidth 1.8 linecolor rgb variable notitle, \
      for [i = 1:modes] keyentry with points pointtype int(n("mode" . i . "_look")) pointsize 1.2 * dot linecolor rgb colour_of("mode" . i) title text_of("mode" . i)
  }

  eval panel
  if (!has("dots")) {
    eval sentence("No operation with arithmetic was measured.")
  } else {
    set grid xtics
    set title text_of("rates_title") . "\n" . text_of("rates_how") font small
    set xlabel "floating-point operations for each byte moved"
    set key at graph 1, char foot + key_rows + 0.5 right top maxrows key_rows
    set logscale xy 10; set format y "%.0s %cFLOP/s"
    set xrange [n("intensity_min") / 2:n("intensity_max") * 2]; set yrange [n("rate_min") / 2:n("rate_max") * 2]
    plot for [i = 1:int(n("makers"))] maker("maker" . i, x) with lines dashtype (2, 4) linewidth 1.6 linecolor rgb colour_of("maker" . i) notitle, \
      for [i = 1:roofs] roof("roof" . i, x) with lines linewidth 2 linecolor rgb colour_of("roof" . i) notitle, \
      for [i = 1:has("dot_bars")] $data index of("dot_bars") using 1:2:3:4:5 with yerrorbars pointtype -1 linewidth 1 linecolor rgb variable notitle, \
      $data index 'dots' using 1:2:($5 * dot):4:3 with points pointtype variable pointsize variable linewidth 1.5 linecolor rgb variable notitle, \
      for [i = 1:roofs] keyentry with lines linewidth 3 linecolor rgb colour_of("roof" . i) title text_of("roof" . i), \
      for [i = 1:shapes] keyentry with points pointtype int(n("shape" . i . "_look")) pointsize 1.3 * dot linecolor rgb gray title text_of("shape" . i)
  }
  unset multiplot
  unset output
}
