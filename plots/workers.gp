# Draws a result of `bench --sweep workers`: samples a second and AU against workers, and a few steps' time line below.
#
#   BENCH_RESULT=results/local/x.json BENCH_PICTURE=results/local/x gnuplot plots/workers.gp
#
# writes x.png and x.svg.

sweep = "workers"
# Without a slash in front gnuplot would read some names as commands, and search for others.
slash = 0
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { slash = i } }
folder = (ARG0[1:1] eq "/" ? "" : "./") . ARG0[1:slash]
load folder . "common.gp"

demands = int(n("demands"))
demand_colours = "#CC79A7 #009E73 #8A3A68 #D55E00 #56B4E9"
# Worker counts on a logarithmic axis, 0 one place before the first.
place(workers) = workers < 1 ? 0 : 1 + log(workers) / log(2)
# What both panels above have.
axis = "set xlabel text_of('workers'); set xtics (); set xrange [-0.25:place(n('last')) + 0.25]; set yrange [0:*]; set offsets 0, 0, graph 0.06, 0;" \
  . "if (n('knee') >= 0) { set arrow 1 from first place(n('knee')), graph 0 to first place(n('knee')), graph 1 nohead dashtype (8, 6) linewidth 1.4 linecolor rgb '#888888' };"

do for [kind in "png svg"] {
  eval page(860, 0)
  set multiplot layout 2, 2 margins char 12, char 2, char foot + 4, char head + 3.5 spacing char 12, char demands > 0 ? 9.5 : 7
  eval panel . heading

  eval axis
  set title "Throughput\n" . text_of("how") font small
  set ylabel "samples/s"
  set key at graph 0, graph -0.3 left top maxrows 3 font small
  plot $data index 'ticks' using (place($1)):(0):xticlabels(2) with points pointtype -1 notitle, \
    for [i = 1:demands] n("demand" . i . "_rate") with lines dashtype i + 1 linewidth 1.6 linecolor rgb word(demand_colours, (i - 1) % 5 + 1) title text_of("demand" . i), \
    for [i = 1:has("rate_line")] $data index of("rate_line") using (place($1)):2 with lines linewidth 1.8 linecolor rgb '#E69F00' notitle, \
    for [i = 1:has("rates")] $data index of("rates") using (place($1)):2:3:4 with yerrorbars pointtype -1 linewidth 1.2 linecolor rgb '#0072B2' notitle, \
    for [i = 1:has("rates")] $data index of("rates") using (place($1)):2:5 with points pointtype variable pointsize 1.1 * dot linecolor rgb '#0072B2' notitle

  eval panel
  if (n("any_au") == 0) {
    eval sentence("No AU: computing with ready data was not measured.")
  } else {
    eval axis
    set title "Accelerator utilisation (AU); 1: a step takes as long as with ready data\n" . text_of("knee_text") font small
    plot $data index 'ticks' using (place($1)):(0):xticlabels(2) with points pointtype -1 notitle, \
      1 with lines linecolor rgb '#c0c0c0' notitle, \
      for [i = 1:has("au_line")] $data index of("au_line") using (place($1)):2 with lines linewidth 1.8 linecolor rgb '#E69F00' notitle, \
      for [i = 1:has("aus")] $data index of("aus") using (place($1)):2:3:4 with yerrorbars pointtype -1 linewidth 1.2 linecolor rgb '#0072B2' notitle, \
      for [i = 1:has("aus")] $data index of("aus") using (place($1)):2:5 with points pointtype variable pointsize 1.1 * dot linecolor rgb '#0072B2' notitle
  }

  # A few steps.
  eval panel
  set rmargin at screen 0.985
  if (!has("time_bars")) {
    eval sentence("No step''s time line was kept.")
  } else {
    set label 1 text_of("time_title") at graph 0, graph 1 offset 0, 1 font large
    set key at graph 1, graph 1 right bottom maxrows 1
    set border 1
    unset grid
    set xlabel text_of("time_unit")
    set xrange [0:n("time_end")]
    set yrange [n("time_rows") + 0.6:0.4]; set ytics () scale 0
    plot $data index 'time_names' using (0):1:yticlabels(2) with points pointtype -1 notitle, \
      $data index 'time_bars' using (($2 + $3) / 2):1:2:3:($1 - 0.36):($1 + 0.36):4 with boxxyerror fill solid 0.85 border rgb 'white' linewidth 0.6 linecolor rgb variable notitle, \
      for [i = 1:int(n("whats"))] keyentry with boxes fill solid 0.85 linecolor rgb int(n("what" . i . "_colour")) title text_of("what" . i)
  }
  unset multiplot
  unset output
}
