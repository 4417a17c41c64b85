# Draws a result of `bench --sweep batch`: throughput against batch beside memory against batch.
#
#   BENCH_RESULT=results/local/x.json BENCH_PICTURE=results/local/x gnuplot plots/batch.gp
#
# writes x.png and x.svg. Reads the JSON only, through jq; batch.jq decides what is drawn where. File names
# reach the shell through the environment, so that no character in them is ever read as a command.

folder = ARG0
do for [i = strlen(ARG0):1:-1] { if (ARG0[i:i] eq "/") { folder = ARG0[1:i]; break } else { folder = "" } }
quoted = ""
do for [i = 1:strlen(folder)] { quoted = quoted . (folder[i:i] eq "'" ? "'\\''" : folder[i:i]) }

# Empty where jq is missing or the file is not JSON: the reason stands on stderr.
text = system(sprintf("d='%s'; jq -r -L \"${d:-.}\" -f \"${d:-./}batch.jq\" < \"$BENCH_RESULT\"", quoted))
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
if (strlen(picture) == 0) { picture = "batch" }
# gnuplot would run a name that starts with a bar.
if (picture[1:1] ne "/") { picture = "./" . picture }

set style textbox opaque noborder margins 0.6, 0.3 fillcolor rgb "white"
note_height = 0.034
bottom = 0.12 + note_height * n("notes") + (n("notes") > 0 ? 0.02 : 0)

do for [kind in "png svg"] {
  if (kind eq "png") {
    set terminal pngcairo size 1600, 720 font "DejaVu Sans,13" noenhanced background rgb "white"
  } else {
    set terminal svg size 1600, 720 font "DejaVu Sans,16" noenhanced background rgb "white"
  }
  set output picture . "." . kind

  set multiplot
  set border 3 linecolor rgb "#606060"
  set tics nomirror out scale 0.6 textcolor rgb "#202020"
  set grid ytics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
  unset key
  unset label
  set label 1 text_of("title") at screen 0.5, 0.965 center font ",17" noenhanced
  set label 2 text_of("subtitle") at screen 0.5, 0.92 center textcolor rgb "#555555" noenhanced
  do for [i = 1:int(n("notes"))] {
    set label 2 + i text_of("note" . i) at screen 0.035, 0.025 + note_height * (n("notes") - i) left textcolor rgb "#444444" noenhanced
  }

  if (n("measured") == 0) {
    set label 20 "No point was measured." at screen 0.5, 0.55 center font ",20" textcolor rgb "#990000"
    unset border; unset tics; unset grid
    set xrange [0:1]; set yrange [0:1]
    plot NaN
  } else {
    # Throughput.
    set lmargin at screen 0.065; set rmargin at screen 0.405
    set bmargin at screen bottom; set tmargin at screen 0.845
    set label 10 "Throughput" at graph 0, 1.055 left font ",15"
    set label 11 "95 % intervals; dashed: T∞, the limit" at graph 1, 1.05 right textcolor rgb "#555555"
    set ylabel text_of("rate_unit") offset 0.5, 0
    set xlabel "batch" offset 0, 0.3
    set logscale x 2
    set xrange [n("x_min"):n("x_max")]
    set yrange [n("y_min"):n("y_max")]
    set xtics ()
    set ytics auto
    eval "plot NaN" \
      . part("x_ticks", "1:(0):xticlabels(2) with points pointtype -1") \
      . part("limits", "1:2:3 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb variable") \
      . part("fits", "1:2:3 with lines linewidth 1.2 linecolor rgb variable") \
      . part("ceiling_lines", "1:2:3 with lines dashtype (2, 4) linewidth 1.4 linecolor rgb variable") \
      . part("rates", "1:2:3:4:5 with yerrorbars pointtype -1 linewidth 1.6 linecolor rgb variable") \
      . part("rates", "1:2:6:5 with points pointtype variable pointsize 1.3 linewidth 1.6 linecolor rgb variable") \
      . part("ceiling_marks", "1:2:3 with points pointtype 6 pointsize 3 linewidth 2.4 linecolor rgb variable") \
      . part("absent", "1:2:3 with points pointtype 2 pointsize 1.4 linewidth 2.6 linecolor rgb variable") \
      . part("ceilings_left", "1:2:3:4 with labels boxed left offset 0.7, 0 textcolor rgb variable") \
      . part("ceilings_right", "1:2:3:4 with labels boxed right offset -0.7, 0 textcolor rgb variable") \
      . part("rate_labels", "1:2:3:4 with labels left offset 0.8, 0 textcolor rgb variable")
    # Drawn once: a second time would make them look bold.
    unset label
    unset logscale x

    # Memory.
    set lmargin at screen 0.545; set rmargin at screen 0.885
    if (n("has_memory") == 0) {
      unset border; unset tics; unset grid; unset xlabel; unset ylabel
      set label 12 "The file holds no memory figures." at screen 0.72, 0.5 center textcolor rgb "#555555"
      set xrange [0:1]; set yrange [0:1]
      plot NaN
      unset label
    } else {
      set label 10 "Memory" at graph 0, 1.055 left font ",15"
      set label 11 sprintf("numbers above the bars: %s in all", text_of("memory_unit")) at graph 1, 1.05 right textcolor rgb "#555555"
      set ylabel text_of("memory_unit") offset 0.5, 0
      set xrange [n("bars_min"):n("bars_max")]
      set yrange [0:n("memory_max")]
      set xtics () scale 0 offset 0, -0.5
      set xlabel "batch" offset 0, -0.1
      set style fill solid 1 noborder
      turn = int(n("rotate"))
      unset clip one
      eval "plot NaN" \
        . part("memory_ticks", "1:(0):xticlabels(2) with points pointtype -1") \
        . part("bars", "(($1 + $2) / 2):(($3 + $4) / 2):1:2:3:4:5 with boxxyerror linecolor rgb variable") \
        . part("line_marks", "1:2 with lines linewidth 2 linecolor rgb 'black'") \
        . part("cap", "1:2 with lines dashtype (10, 5) linewidth 2 linecolor rgb '#cc0000'") \
        . part("oom", "1:2:3 with points pointtype 2 pointsize 1.4 linewidth 2.6 linecolor rgb variable") \
        . (turn == 0 ? part("totals", "1:2:3 with labels center offset 0, 0.6 font ',11'") : "") \
        . (turn != 0 ? part("totals", "1:2:3 with labels left rotate by 90 offset 0, 0.5 font ',10'") : "") \
        . part("notes_in", sprintf("1:2:3:4 with labels left font ',%d' textcolor rgb variable", n("formula_font")))
      unset label

      # Beside it, what the colours mean; below the axis, which dtype a bar is.
      unset border; unset tics; unset grid; unset xlabel; unset ylabel
      set tmargin at screen 0.845
      set lmargin at screen 0.895; set rmargin at screen 0.995
      set xrange [0:1]; set yrange [0:1]
      eval "plot NaN" \
        . part("key_texts", "1:2:3 with labels left textcolor rgb '#202020'") \
        . part("key_squares", "(0.08):2:1:(0.14):($2 - 0.017):($2 + 0.017):3 with boxxyerror linecolor rgb variable") \
        . part("key_strips", "(0.08):2:1:(0.14):($2 - 0.008):($2 + 0.008):3 with boxxyerror linecolor rgb variable") \
        . part("key_lines", "1:2:(0.13):(0):3 with vectors nohead linewidth 2 linecolor rgb variable")
      set lmargin at screen 0.545; set rmargin at screen 0.885
      set xrange [n("bars_min"):n("bars_max")]
      set tmargin at screen bottom - 0.004; set bmargin at screen bottom - 0.018
      eval "plot NaN" \
        . part("strips", "(($1 + $2) / 2):(0.5):1:2:(0):(1):3 with boxxyerror linecolor rgb variable")
    }
  }
  unset multiplot
  unset output
  unset label
  set tics nomirror
}
