# Draws a result of `bench --sweep batch`: throughput against batch, and memory against batch for each dtype.
#
#   BENCH_RESULT=results/local/x.json BENCH_PICTURE=results/local/x gnuplot plots/batch.gp
#
# writes x.png and x.svg.

sweep = "batch"
folder = ARG0
do for [i = strlen(ARG0):1:-1] { if (ARG0[i:i] eq "/") { folder = ARG0[1:i]; break } else { folder = "" } }
# Without a slash in front gnuplot would read some names as commands, and search for others.
if (folder[1:1] ne "/") { folder = "./" . folder }
load folder . "common.gp"

dtypes = int(n("dtypes"))
memory_panels = n("has_memory") > 0 ? int(n("has_memory")) : 1
note_height = 0.034
below = note_height * n("notes") + 0.05

do for [kind in "png svg"] {
  if (kind eq "png") {
    set terminal pngcairo size 1600, 720 font "DejaVu Sans,13" noenhanced background rgb "white"
    huge = ",17"; small = ",11"
  } else {
    set terminal svg size 1600, 720 font "DejaVu Sans,16" noenhanced background rgb "white"
    huge = ",21"; small = ",13"
  }
  set output picture . "." . kind

  set multiplot layout 1, 1 + memory_panels margins 0.055, 0.985, below + 0.21, 0.81 spacing 0.05, 0
  set border 3 linecolor rgb "#606060"
  set tics nomirror out scale 0.6 textcolor rgb "#202020"
  set grid ytics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
  set style textbox opaque noborder margins 0.3, 0.1 fillcolor rgb "white"
  set label 1 text_of("title") at screen 0.5, 0.965 center font huge
  set label 2 text_of("subtitle") at screen 0.5, 0.92 center textcolor rgb "#555555"
  do for [i = 1:int(n("notes"))] {
    set label 2 + i text_of("note" . i) at screen 0.035, note_height * (n("notes") - i) + 0.025 left textcolor rgb "#444444"
  }

  if (n("measured") == 0) {
    set label 20 "No point was measured." at screen 0.5, 0.55 center font ",20" textcolor rgb "#990000"
    unset border; unset tics; unset grid; unset key
    set xrange [0:1]; set yrange [0:1]
    plot NaN
  } else {
    # Throughput: marks with 95 % intervals, the fitted curve, its limit dashed, a ring at the saturation batch.
    set title "Throughput, 95 % intervals\ncurve: fitted; dashed: T∞; ring: saturation batch" font small
    set key at graph 0, graph -0.24 left top maxcols 1 Left reverse samplen 1
    set ylabel text_of("rate_unit") offset 0.5, 0
    set xlabel "batch" offset 0, 0.3
    set logscale x 2
    set format x "%.0f"
    set xrange [n("x_min"):n("x_max")]
    set yrange [n("y_min"):n("y_max")]
    parts = ""
    do for [i = 1:dtypes] {
      d = "dtype" . i
      look = sprintf(" linecolor rgb %d", int(n(d . "_colour")))
      parts = parts . sprintf(", NaN with points pointtype %d pointsize 1.3", int(n(d . "_shape"))) . look . " title text_of('" . d . "_legend')"
      if (n(d . "_drawn")) { parts = parts . sprintf(", %g with lines dashtype (8, 6) linewidth 1.6", n(d . "_limit")) . look . " notitle" }
      if (n(d . "_fit")) {
        parts = parts . sprintf(", x < %g || x > %g ? NaN : x / (%g + x / %g) with lines linewidth 1.2", 0.99 * n(d . "_first"), 1.01 * n(d . "_last"), n(d . "_t0"), n(d . "_limit")) . look . " notitle"
      }
      parts = parts . part("rates" . i, "1:2:3:4 with yerrorbars pointtype -1 linewidth 1.6" . look . " notitle") \
        . part("rates" . i, "1:2:5 with points pointtype variable pointsize 1.3 linewidth 1.6" . look . " notitle") \
        . part("saturation" . i, "1:2 with points pointtype 6 pointsize 3 linewidth 2.4" . look . " notitle") \
        . part("absent" . i, "1:2 with points pointtype 2 pointsize 1.4 linewidth 2.6" . look . " notitle")
    }
    set samples 200
    eval "plot NaN notitle" . parts
    # Drawn once: a second time would make them look bold.
    unset label
    unset logscale x
    set format x

    if (n("has_memory") == 0) {
      unset border; unset tics; unset grid; unset xlabel; unset ylabel; unset title; unset key
      set label 12 "The file holds no memory figures." at graph 0.5, 0.5 center textcolor rgb "#555555"
      set xrange [0:1]; set yrange [0:1]
      plot NaN
      unset label
    } else {
      # Memory at the peak: a stack a batch, its number above it, the fitted line across it.
      set style data histograms
      set style histogram rowstacked
      set style fill solid 1 noborder
      set boxwidth 0.8
      set errorbars 0
      set xrange [-0.6:n("batches") - 0.4]
      set yrange [0:n("memory_max")]
      if (n("batches") > 10) { set xtics rotate by -45 scale 0 font small } else { set xtics norotate scale 0 font small }
      do for [i = 1:memory_panels] {
        bars = "bars" . i
        set title "Memory in " . text_of("dtype" . i) . "\n" . text_of("dtype" . i . "_heading") textcolor rgb int(n("dtype" . i . "_colour")) font small
        if (i == 1) { set ylabel text_of("memory_unit") offset 0.5, 0; set ytics format "%h" } else { unset ylabel; set ytics format "" }
        if (i == 1) { set key at screen (memory_panels == 1 ? 0.55 : 0.43), graph -0.24 left top maxrows 2 width 1 Left reverse samplen 2 } else { unset key }
        parts = ""
        do for [c = 1:int(n("categories"))] {
          parts = parts . sprintf(", $data index '%s' using %d:xtic(1) linecolor rgb %d title text_of('category%d')", bars, 4 + c, int(n("category" . c . "_colour")), c)
        }
        cap = n("cap") > 0 ? ", n('cap') with lines dashtype (10, 5) linewidth 2 linecolor rgb '#cc0000' title text_of('cap_text')" : ""
        eval "plot NaN notitle" . parts \
          . sprintf(", $data index '%s' using 0:4:(0.45) with xerrorbars pointtype -1 linewidth 2 linecolor rgb 'black' title 'fitted line'", bars) . cap \
          . sprintf(", $data index '%s' using 0:2:3 with labels boxed center offset 0, 0.6 font small notitle", bars)
      }
      set style data points
      unset title
      set key default
    }
  }
  unset multiplot
  unset output
  unset label
  set tics nomirror
  set xtics norotate scale 0.6
  set ytics format "%h"
}
