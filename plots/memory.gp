# Draws a result of `bench --sweep memory`: what fills the memory against batch, a panel a series, and the
# memory over one step; after --soak, the memory over its steps.
#
#   BENCH_RESULT=results/local/x.json BENCH_PICTURE=results/local/x gnuplot plots/memory.gp
#
# writes x.png and x.svg. Reads the JSON only, through jq; memory.jq decides what is drawn where. File names
# reach the shell through the environment, so that no character in them is ever read as a command.

folder = ARG0
do for [i = strlen(ARG0):1:-1] { if (ARG0[i:i] eq "/") { folder = ARG0[1:i]; break } else { folder = "" } }
quoted = ""
do for [i = 1:strlen(folder)] { quoted = quoted . (folder[i:i] eq "'" ? "'\\''" : folder[i:i]) }

# Empty where jq is missing or the file is not JSON: the reason stands on stderr.
text = system(sprintf("d='%s'; jq -r -L \"${d:-.}\" -f \"${d:-./}memory.jq\" < \"$BENCH_RESULT\"", quoted))
if (strlen(text) == 0) { exit status 1 }

# The value behind a key of the first table.
text_of(key) = (from = strstrt(text, "\n" . key . "\t") + strlen(key) + 2, rest = text[from:from + 400], to = strstrt(rest, "\n"), to > 0 ? rest[1:to - 1] : rest)
n(key) = text_of(key) + 0
# One part of a plot command; nothing where the table is empty, which gnuplot would warn about.
part(table, how) = n("rows_" . table) > 0 ? sprintf(", $data index '%s' using ", table) . how : ""

set print $data
print text
unset print
set datafile separator "\t"

picture = system("printf %s \"$BENCH_PICTURE\"")
if (strlen(picture) == 0) { picture = "memory" }
# gnuplot would run a name that starts with a bar.
if (picture[1:1] ne "/") { picture = "./" . picture }

dark = "#202020"
gray = "#555555"

do for [kind in "png svg"] {
  # The sizes of letters are points in one and pixels in the other.
  if (kind eq "png") {
    set terminal pngcairo size n("width"), n("height") font "DejaVu Sans,13" noenhanced background rgb "white"
    huge = ",17"; large = ",15"; small = ",11"; tiny = ",10"
  } else {
    set terminal svg size n("width"), n("height") font "DejaVu Sans,16" noenhanced background rgb "white"
    huge = ",22"; large = ",19"; small = ",14"; tiny = ",13"
  }
  set output picture . "." . kind

  set multiplot
  set border 3 linecolor rgb "#606060"
  set tics nomirror out scale 0.6 textcolor rgb dark
  set grid ytics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
  set style fill solid 1 noborder
  set style textbox opaque noborder margins 0.3, 0.1 fillcolor rgb "white"
  unset key
  set label 1 text_of("title") at screen 0.5, n("title_y") center font huge
  set label 2 text_of("claim") at screen 0.5, n("claim_y") center font large
  set label 3 text_of("subtitle") at screen 0.5, n("subtitle_y") center textcolor rgb gray
  do for [i = 1:int(n("notes"))] {
    set label 10 + i text_of("note" . i) at screen 0.0625, n("note" . i . "_y") left textcolor rgb "#444444"
  }

  if (n("panels") == 0) {
    set label 20 "No point was measured." at screen 0.5, 0.45 center font huge textcolor rgb "#990000"
    unset border; unset tics; unset grid
    set xrange [0:1]; set yrange [0:1]
    plot NaN
  } else {
    do for [i = 1:int(n("keys"))] {
      key = "key" . i
      set object i rectangle from screen n(key . "_x"), n("key_y") - n("key_half") to screen n(key . "_x") + 0.0115, n("key_y") + n("key_half") \
        fillcolor rgb int(n(key . "_colour")) fillstyle solid 1 noborder
      set label 20 + i text_of(key) at screen n(key . "_x") + 0.0165, n("key_y") left textcolor rgb dark
    }
    set label 4 text_of("heading") at screen n("heading_x"), n("heading_y") left font large

    # Bars against batch, a panel a series, all with the same axes.
    do for [i = 1:int(n("panels"))] {
      panel = "panel" . i
      set lmargin at screen n(panel . "_left"); set rmargin at screen n(panel . "_right")
      set tmargin at screen n(panel . "_top"); set bmargin at screen n(panel . "_bottom")
      set label 50 text_of(panel) at screen n(panel . "_left"), n(panel . "_title_y") left textcolor rgb dark
      set label 51 text_of(panel . "_line1") at screen n(panel . "_left"), n(panel . "_line1_y") left font small textcolor rgb gray
      set label 52 text_of(panel . "_line2") at screen n(panel . "_left"), n(panel . "_line2_y") left font small textcolor rgb gray
      set xrange [-0.5:n("x_max")]
      set yrange [0:n("y_max")]
      set xtics () scale 0 offset 0, 0.3
      if (n(panel . "_low")) { set xlabel "batch" offset 0, 0.7 } else { unset xlabel }
      if (n(panel . "_first")) { set ylabel text_of("unit") offset 0.5, 0; set ytics auto format "%h" } else { unset ylabel; set ytics auto format "" }
      # What the lines are stands beside the last panel of a row.
      if (n(panel . "_last")) {
        do for [k = 1:int(n("caps"))] {
          cap = "cap" . k
          set arrow k from graph 1, n(cap . "_at") to screen n(panel . "_right") + 0.0105, graph n(cap . "_y") nohead linewidth 1 linecolor rgb "#cc0000"
          set label 60 + k text_of(cap) at screen n(panel . "_right") + 0.0125, graph n(cap . "_y") left font small textcolor rgb "#cc0000"
        }
      }
      eval "plot NaN" \
        . part("ticks", "1:(0):xticlabels(2) with points pointtype -1") \
        . part("bars" . i, "(($1 + $2) / 2):(($3 + $4) / 2):1:2:3:4:5 with boxxyerror linecolor rgb variable") \
        . part("cap_lines", "1:2 with lines dashtype (10, 5) linewidth 2 linecolor rgb '#cc0000'") \
        . part("oom" . i, "1:2 with points pointtype 2 pointsize 1.2 linewidth 2.4 linecolor rgb '#990000'") \
        . part("left_out" . i, "1:2:('–') with labels center textcolor rgb '#555555'") \
        . (n("turned") == 0 ? part("totals" . i, "1:2:3 with labels center offset 0, 0.6 font tiny") : "") \
        . (n("turned") != 0 ? part("totals" . i, "1:2:3 with labels left rotate by 90 offset 0, 0.5 font tiny") : "")
      # What stands on the whole sheet is drawn once: a second time would make it look bold.
      unset label
      unset object
      unset arrow
    }

    # Memory over one step: filled from the highest sum down, so that no seam shows between two layers.
    if (n("has_step")) {
      set lmargin at screen n("step_left"); set rmargin at screen n("step_right")
      set tmargin at screen n("step_top_y"); set bmargin at screen n("step_bottom_y")
      set label 1 text_of("step_title") at screen n("step_left"), n("step_title_y") left font large
      set xrange [0.5:n("step_x_max")]
      set yrange [0:n("step_y_max")]
      set xtics auto format "%h" scale 0.6 offset 0, 0
      set ytics auto format "%h"
      set xlabel "operation of the step, in the order they run" offset 0, 0.3
      set ylabel text_of("step_unit") offset 0.5, 0
      # Above the plot, a strip that tells the passes apart.
      do for [i = 1:int(n("regions"))] {
        region = "region" . i
        set object i rectangle from first n(region . "_from"), graph n("strip_low") to first n(region . "_to"), graph n("strip_high") \
          fillcolor rgb int(n(region . "_colour")) fillstyle solid 1 noborder noclip
      }
      do for [i = 1:int(n("region_labels"))] {
        set label 100 + i text_of("pass" . i) at graph n("pass" . i . "_x"), n("strip_text") center font small textcolor rgb gray
      }
      set arrow 1 from first n("peak_x"), first n("peak_y") to first n("peak_x"), graph n("peak_line") nohead linewidth 1.4 linecolor rgb "black"
      eval 'set label 2 text_of("peak_text") at graph n("peak_label_x"), graph n("peak_row") boxed ' . text_of("peak_side")
      eval 'set label 3 text_of("reserved_text") at graph n("reserved_label_x"), graph n("reserved_row") boxed ' . text_of("reserved_side")
      layers = ""
      do for [i = int(n("step_layers")):1:-1] {
        layers = layers . part("layer" . i, sprintf("1:2 with filledcurves y1=0 linecolor rgb %d", int(n("layer" . i . "_colour"))))
      }
      eval "plot NaN" . layers \
        . part("separators", "1:2 with lines dashtype (2, 4) linewidth 1 linecolor rgb '#404040'") \
        . part("reserved_line", "1:2 with lines dashtype (8, 4) linewidth 1.6 linecolor rgb 'black'") \
        . part("peak", "1:2 with points pointtype 7 pointsize 0.8 linecolor rgb 'black'")
      unset label
      unset object
      unset arrow
    }

    # A long run: dots are samples, the dashed line is the growth that the finding claims.
    if (n("soaks")) {
      set lmargin at screen n("soak_left"); set rmargin at screen n("soak_right")
      set tmargin at screen n("soak_top_y"); set bmargin at screen n("soak_bottom_y")
      set label 1 text_of("soak_title") at screen n("soak_left"), n("soak_title_y") left font large
      lines = ""
      do for [i = 1:int(n("soaks"))] {
        colour = int(n("soak" . i . "_colour"))
        set label 10 + i text_of("soak" . i) at screen n("soak_left"), n("soak" . i . "_y") left textcolor rgb colour
        lines = lines . part("soak" . i, sprintf("1:2 with linespoints pointtype 7 pointsize 0.5 linewidth 1.2 linecolor rgb %d", colour))
      }
      do for [i = 1:int(n("soaks"))] {
        lines = lines . part("soak_line" . i, "1:2 with lines dashtype (10, 8) linewidth 1.6 linecolor rgb 'black'")
      }
      set xrange [0:n("soak_last")]
      set yrange [n("soak_low"):n("soak_high")]
      set xtics auto format "%h" scale 0.6 offset 0, 0
      set ytics auto format "%h"
      set xlabel "steps done" offset 0, 0.3
      set ylabel text_of("soak_unit") offset 0.5, 0
      eval "plot NaN" . lines
      unset label
    }
  }
  unset multiplot
  unset output
  set tics nomirror
}
