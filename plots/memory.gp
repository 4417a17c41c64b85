# Draws a result of `bench --sweep memory`: what fills the memory against batch, a panel a series, and the
# memory over one step; after --soak, the memory over its steps.
#
#   BENCH_RESULT=results/local/x.json BENCH_PICTURE=results/local/x gnuplot plots/memory.gp
#
# writes x.png and x.svg.

sweep = "memory"
folder = ARG0
do for [i = strlen(ARG0):1:-1] { if (ARG0[i:i] eq "/") { folder = ARG0[1:i]; break } else { folder = "" } }
# Without a slash in front gnuplot would read some names as commands, and search for others.
if (folder[1:1] ne "/") { folder = "./" . folder }
load folder . "common.gp"

dark = "#202020"
gray = "#555555"

# The sheet, from above, in pixels: heads, rows of panels, the step, the long run, notes.
columns = int(n("columns"))
rows = int((n("panels") + columns - 1) / columns)
panel_height = rows == 1 ? 280 : 190
panels_at = 176
row_height = panel_height + 120
step_at = panels_at + rows * row_height + 40
soak_at = step_at + (n("has_step") ? 376 : 0)
soak_rows = 22 * n("soaks")
notes_at = n("panels") == 0 ? 380 : soak_at + (n("soaks") ? 300 + soak_rows : 0)
height = notes_at + 24 * n("notes") + 12
up(px) = 1 - 1.0 * px / height
panel_width = 0.91 / columns
left_of(i) = 0.06 + panel_width * (i % columns)

do for [kind in "png svg"] {
  # The sizes of letters are points in one and pixels in the other.
  if (kind eq "png") {
    set terminal pngcairo size 1600, height font "DejaVu Sans,13" noenhanced background rgb "white"
    huge = ",17"; large = ",15"; small = ",11"
  } else {
    set terminal svg size 1600, height font "DejaVu Sans,16" noenhanced background rgb "white"
    huge = ",22"; large = ",19"; small = ",14"
  }
  set output picture . "." . kind

  set multiplot
  set border 3 linecolor rgb "#606060"
  set tics nomirror out scale 0.6 textcolor rgb dark
  set grid ytics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
  set style fill solid 1 noborder
  set style textbox opaque noborder margins 0.3, 0.1 fillcolor rgb "white"
  set errorbars 0
  set label 1 text_of("title") at screen 0.5, up(34) center font huge
  set label 2 text_of("claim") at screen 0.5, up(68) center font large
  set label 3 text_of("subtitle") at screen 0.5, up(98) center textcolor rgb gray
  do for [i = 1:int(n("notes"))] {
    set label 10 + i text_of("note" . i) at screen 0.0625, up(notes_at + 24 * (i - 1)) left textcolor rgb "#444444"
  }

  if (n("panels") == 0) {
    set label 30 "No point was measured." at screen 0.5, 0.45 center font huge textcolor rgb "#990000"
    unset border; unset tics; unset grid; unset key
    set xrange [0:1]; set yrange [0:1]
    plot NaN
  } else {
    set label 4 "Memory at the peak, measured" at screen 0.06, up(panels_at - 8) left font large

    # A stack a batch, a panel a series, all with the same axes; the key is the first panel's.
    set style data histograms
    set style histogram rowstacked
    set boxwidth 0.75
    set xrange [-0.5:n("batches") - 0.5]
    set yrange [0:n("y_max")]
    if (n("batches") * columns > 44) { set xtics rotate by -45 scale 0 font small } else { set xtics norotate scale 0 font small }
    do for [i = 1:int(n("panels"))] {
      panel = "panel" . i
      at = panels_at + row_height * int((i - 1) / columns)
      set lmargin at screen left_of(i - 1); set rmargin at screen left_of(i - 1) + panel_width - 0.016
      set tmargin at screen up(at + 76); set bmargin at screen up(at + 76 + panel_height)
      set label 50 text_of(panel) at graph 0, 1 left offset 0, 2.6
      set label 51 text_of(panel . "_line") at graph 0, 1 left offset 0, 1.6 font small textcolor rgb gray
      set label 52 text_of(panel . "_largest") at graph 0, 1 left offset 0, 0.7 font small textcolor rgb gray
      if (i + columns > n("panels")) { set xlabel "batch" offset 0, 0.4 } else { unset xlabel }
      if ((i - 1) % columns == 0) { set ylabel text_of("unit") offset 0.5, 0; set ytics auto format "%h" } else { unset ylabel; set ytics auto format "" }
      if (i == 1) { set key at screen 0.5, up(132) center center maxrows 1 Left reverse samplen 1 width -1 } else { unset key }
      bars = "bars" . i
      parts = ""
      do for [c = 1:int(n("categories"))] {
        parts = parts . sprintf(", $data index '%s' using %d:xtic(1) linecolor rgb %d title text_of('category%d')", bars, 3 + c, int(n("category" . c . "_colour")), c)
      }
      do for [c = 1:int(n("caps"))] {
        parts = parts . sprintf(", %g with lines dashtype (%d, 5) linewidth 2 linecolor rgb '#cc0000' title text_of('cap%d_text')", n("cap" . c), 12 / c, c)
      }
      eval "plot NaN notitle" . parts . sprintf(", $data index '%s' using 0:2:3 with labels boxed center offset 0, 0.6 font small notitle", bars)
      # Text on the whole sheet is drawn once: a second time would make it look bold.
      unset label
    }
    set style data points
    set xtics norotate scale 0.6 font ""
    set ytics auto format "%h"
    set lmargin at screen 0.06; set rmargin at screen 0.97

    # Memory over one step: filled from the highest sum down, so that no seam shows between two layers.
    if (n("has_step")) {
      set tmargin at screen up(step_at + 44); set bmargin at screen up(step_at + 284)
      set label 1 text_of("step_title") at graph 0, 1 left offset 0, 2.6 font large
      set key at graph 1, graph 0.99 right top maxrows 1 Left reverse samplen 2
      set xrange [0.5:n("step_x_max")]
      set yrange [0:n("step_y_max")]
      set xlabel "operation of the step, in the order they run" offset 0, 0.3
      set ylabel text_of("step_unit") offset 0.5, 0
      layers = ""
      do for [i = int(n("step_layers")):1:-1] {
        layers = layers . sprintf(", $data index 'step' using 1:%d with fillsteps linecolor rgb %d notitle", 1 + i, int(n("layer" . i . "_colour")))
      }
      reserved = n("reserved") > 0 ? ", n('reserved') with lines dashtype (8, 4) linewidth 1.6 linecolor rgb 'black' title text_of('reserved_text')" : ""
      eval "plot NaN notitle" . layers \
        . part("separators", "1:2 with lines dashtype (2, 4) linewidth 1 linecolor rgb '#404040' notitle") \
        . part("passes", sprintf("1:(%g):2 with labels center offset 0, 0.8 font small textcolor rgb gray notitle", 0.9999 * n("step_y_max"))) . reserved \
        . sprintf(", '+' using (%g):(%g) every ::::0 with points pointtype 7 pointsize 0.8 linecolor rgb 'black' title text_of('peak_text')", n("peak_x"), n("peak_y"))
      unset label
    }

    # A long run: dots are samples, the dashed line is the growth that the finding claims.
    if (n("soaks")) {
      set tmargin at screen up(soak_at + 44 + soak_rows); set bmargin at screen up(soak_at + 224 + soak_rows)
      set label 1 text_of("soak_title") at screen 0.06, up(soak_at + 14) left font large
      set key default
      set key at graph 0, graph 1.02 left bottom maxcols 1 Left reverse samplen 2
      lines = ""
      do for [i = 1:int(n("soaks"))] {
        colour = int(n("soak" . i . "_colour"))
        lines = lines . part("soak" . i, sprintf("1:2 with linespoints pointtype 7 pointsize 0.5 linewidth 1.2 linecolor rgb %d title text_of('soak%d')", colour, i)) \
          . part("soak_line" . i, "1:2 with lines dashtype (10, 8) linewidth 1.6 linecolor rgb 'black' notitle")
        if (n("rows_soak" . i) == 0) { lines = lines . sprintf(", NaN with points pointtype -1 title text_of('soak%d')", i) }
      }
      set xrange [0:n("soak_last")]
      set yrange [n("soak_low"):n("soak_high")]
      set xlabel "steps done" offset 0, 0.3
      set ylabel text_of("soak_unit") offset 0.5, 0
      eval "plot NaN notitle" . lines
      unset label
    }
  }
  unset multiplot
  unset output
  set tics nomirror
}
