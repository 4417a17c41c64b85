# Draws a result of `bench --sweep memory`: what fills the memory against batch, a panel a series, and the
# memory over one step; after --soak, the memory over its steps.
#
#   BENCH_RESULT=results/local/x.json BENCH_PICTURE=results/local/x gnuplot plots/memory.gp
#
# writes x.png and x.svg.

sweep = "memory"
# Without a slash in front gnuplot would read some names as commands, and search for others.
slash = 0
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { slash = i } }
folder = (ARG0[1:1] eq "/" ? "" : "./") . ARG0[1:slash]
load folder . "common.gp"

panels = int(n("panels"))
columns = int(n("columns"))
layers = int(n("layers"))
caps = int(n("caps"))
step_layers = int(n("step_layers"))
soaks = int(n("soaks"))
rows = (panels + columns - 1) / columns + has("step") + (soaks > 0)
# Lines between two rows of panels, for headings and axes, and under the last one for the long run's key.
between = 8
under = foot + 3.5 + soaks + (soaks > 0)
crowded = n("batches") * columns > 40
sum_of(first, number) = (sum [k = first:first + number - 1] column(k))
colour_of(thing) = int(n(thing . "_colour"))

do for [kind in "png svg"] {
  eval page(220 * rows, (rows - 1) * between + under - foot + 5.5)
  set multiplot layout rows, columns margins char 10, char 3, char under, char head + 5.5 spacing char 2.5, char between
  eval panel . heading

  # A stack a batch, a panel a series, all with the same axes; the key is the first panel's.
  set style histogram rowstacked
  set style fill solid 1 noborder
  set boxwidth 0.75
  do for [i = 1:panels] {
    p = "panel" . i
    bars = "bars" . i
    set label 11 text_of(p) at graph 0, 1 left offset 0, 2.6
    set label 12 text_of(p . "_line") at graph 0, 1 left offset 0, 1.6 font small textcolor rgb gray
    set label 13 text_of(p . "_largest") at graph 0, 1 left offset 0, 0.7 font small textcolor rgb gray
    set xtics scale 0 font small
    if (crowded) { set xtics rotate by -45 }
    if (i + columns > panels) { set xlabel "batch" }
    if ((i - 1) % columns == 0) { set ylabel text_of("unit") } else { set format y "" }
    if (i == 1) { set key at screen 0.5, 1 - line * head / height center top maxrows layers + caps > 9 ? 2 : 1 samplen 1 } else { unset key }
    set xrange [-0.5:n("batches") - 0.5]
    set yrange [0:(crowded ? 1.35 : 1.18) * n("top")]
    plot for [c = 1:layers] $data index bars using 2 + c:xtic(1) with histograms linecolor rgb colour_of("layer" . c) title text_of("layer" . c), \
      for [c = 1:caps] n("cap" . c . "_at") with lines dashtype (12 / c, 5) linewidth 2 linecolor rgb '#cc0000' title text_of("cap" . c), \
      for [i = 1:!crowded] $data index bars using 0:(sum_of(3, layers)):2 with labels boxed center offset 0, 0.6 font small notitle, \
      for [i = 1:crowded] $data index bars using 0:(sum_of(3, layers)):2 with labels rotate by 90 left offset 0, 0.3 font small notitle
    eval panel
  }
  do for [i = 1:(columns - panels % columns) % columns] { set multiplot next }
  set rmargin at screen 0.97

  # Memory over one step: filled from the highest sum down, so that no seam shows between two layers.
  if (has("step")) {
    set label 1 text_of("step_title") at graph 0, 1 left offset 0, 3.1 font large
    set key at graph 1, graph 1 right bottom maxcols 1
    set xlabel "operation of the step, in the order they run"
    set ylabel text_of("step_unit")
    set xrange [0.5:n("operations") + 0.5]
    set yrange [0:1.22 * n("step_top")]
    plot for [c = step_layers:1:-1] $data index 'step' using ($1 - 0.5):(sum_of(2, c)) with fillsteps linecolor rgb colour_of("step_layer" . c) notitle, \
      for [i = 1:has("separators")] $data index of("separators") using 1:(n("step_top")) with impulses dashtype (2, 4) linewidth 1 linecolor rgb '#404040' notitle, \
      for [i = 1:has("passes")] $data index of("passes") using 1:(1.1 * n("step_top")):2 with labels center font small textcolor rgb gray notitle, \
      for [i = 1:n("reserved") > 0] n("reserved") with lines dashtype (8, 4) linewidth 1.6 linecolor rgb 'black' title text_of('reserved_text'), \
      $data index 'peak' using 1:2 with points pointtype 7 pointsize 0.8 * dot linecolor rgb 'black' title text_of('peak_text')
    do for [i = 1:columns - 1] { set multiplot next }
    eval panel
  }

  # A long run: dots are samples, the dashed line is the growth that the finding claims.
  if (soaks > 0) {
    set rmargin at screen 0.97
    set label 1 "Memory over a long run: what the system saw since the first step; dashed, the growth" at graph 0, 1 left offset 0, 1 font large
    set key at graph 0, char foot + soaks + 0.5 left top maxcols 1
    set xlabel "steps done"
    set ylabel text_of("soak_unit")
    set xrange [0:*] noextend
    set offsets 0, 0, graph 0.08, graph 0.05
    # An invisible line keeps noise of a few pages small.
    plot 0 with lines linecolor rgb '#c0c0c0' notitle, n("soak_least") with lines linecolor rgb '#ff000000' notitle, \
      for [i = 1:soaks] $data index of("soak" . i) using (has("soak" . i) ? $1 : NaN):2 with linespoints pointtype 7 pointsize 0.5 * dot linewidth 1.2 linecolor rgb colour_of("soak" . i) title text_of("soak" . i), \
      for [i = 1:soaks] $data index of("soak_line" . i) using (has("soak_line" . i) ? $1 : NaN):2 with lines dashtype (10, 8) linewidth 1.6 linecolor rgb 'black' notitle
  }
  unset multiplot
  unset output
}
