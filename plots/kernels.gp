# Draws a result of `bench --sweep kernels`: bandwidth against bytes touched beside the roofline.
#
#   BENCH_RESULT=results/local/x.json BENCH_PICTURE=results/local/x gnuplot plots/kernels.gp
#
# writes x.png and x.svg. Reads the JSON only, through jq; kernels.jq decides what is drawn where. File names
# reach the shell through the environment, so that no character in them is ever read as a command.

folder = ARG0
do for [i = strlen(ARG0):1:-1] { if (ARG0[i:i] eq "/") { folder = ARG0[1:i]; break } else { folder = "" } }
quoted = ""
do for [i = 1:strlen(folder)] { quoted = quoted . (folder[i:i] eq "'" ? "'\\''" : folder[i:i]) }

# Empty where jq is missing or the file is not JSON: the reason stands on stderr.
text = system(sprintf("d='%s'; jq -r -L \"${d:-.}\" -f \"${d:-./}kernels.jq\" < \"$BENCH_RESULT\"", quoted))
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
if (strlen(picture) == 0) { picture = "kernels" }
# gnuplot would run a name that starts with a bar.
if (picture[1:1] ne "/") { picture = "./" . picture }

note_height = 0.034
bottom = 0.12 + note_height * n("notes") + (n("notes") > 0 ? 0.02 : 0)

do for [kind in "png svg"] {
  if (kind eq "png") {
    set terminal pngcairo size 1600, 760 font "DejaVu Sans,13" noenhanced background rgb "white"
  } else {
    set terminal svg size 1600, 760 font "DejaVu Sans,16" noenhanced background rgb "white"
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
    set bmargin at screen bottom; set tmargin at screen 0.80
    # Bandwidth.
    set lmargin at screen 0.06; set rmargin at screen 0.455
    if (n("has_stream") == 0) {
      unset border; unset tics; unset grid
      set label 12 "No stream kernel was measured." at screen 0.25, 0.5 center textcolor rgb "#555555"
      set xrange [0:1]; set yrange [0:1]
      plot NaN
      set border 3 linecolor rgb "#606060"
      set tics nomirror out scale 0.6 textcolor rgb "#202020"
    } else {
      set label 10 "What memory and caches deliver" at graph 0, 1.09 left font ",15"
      set label 11 "solid, round: hot caches; dashed, square: cold; open: flagged" at graph 0, 1.04 left textcolor rgb "#555555"
      set ylabel "GB/s, read and written" offset 0.5, 0
      set xlabel "bytes touched" offset 0, 0.3
      set logscale x 2
      set xrange [n("bytes_min"):n("bytes_max")]
      set yrange [0:n("bandwidth_max")]
      set xtics () nomirror
      set ytics auto
      eval "plot NaN" \
        . part("size_ticks", "1:(0):xticlabels(2) with points pointtype -1") \
        . part("hot_lines", "1:2:3 with lines linewidth 1.8 linecolor rgb variable") \
        . part("cold_lines", "1:2:3 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb variable") \
        . part("hot_marks", "1:2:4:3 with points pointtype variable pointsize 1.2 linecolor rgb variable") \
        . part("cold_marks", "1:2:4:3 with points pointtype variable pointsize 1.2 linecolor rgb variable")
      unset logscale x
      # What the colours mean.
      unset label; unset xlabel; unset ylabel
      unset border; unset tics; unset grid
      set xrange [0:1]; set yrange [0:1]
      eval "plot NaN" . part("stream_key", "1:2:3:4 with labels right textcolor rgb variable")
      set border 3 linecolor rgb "#606060"
      set tics nomirror out scale 0.6 textcolor rgb "#202020"
    }
    unset label

    # The roofline.
    set lmargin at screen 0.565; set rmargin at screen 0.985
    if (n("has_roofline") == 0) {
      unset border; unset tics; unset grid
      set label 13 "No operation with arithmetic was measured." at screen 0.77, 0.5 center textcolor rgb "#555555"
      set xrange [0:1]; set yrange [0:1]
      plot NaN
    } else {
      set grid ytics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
      set label 10 "Roofline, measured" at graph 0, 1.09 left font ",15"
      set label 11 "small, pale: cold caches; open: flagged; dotted: maker's figures" at graph 0, 1.04 left textcolor rgb "#555555"
      set xlabel "floating-point operations for each byte moved" offset 0, 0.3
      set logscale xy 10
      set xrange [n("intensity_min"):n("intensity_max")]
      set yrange [n("rate_min"):n("rate_max")]
      set xtics () nomirror; set ytics () nomirror
      eval "plot NaN" \
        . part("intensity_ticks", "1:(n('rate_min')):xticlabels(2) with points pointtype -1") \
        . part("rate_ticks", "(n('intensity_min')):1:yticlabels(2) with points pointtype -1") \
        . part("sheets", "1:2:3 with lines dashtype (2, 4) linewidth 1.6 linecolor rgb variable") \
        . part("roofs", "1:2:3 with lines linewidth 2 linecolor rgb variable") \
        . part("dots", "1:2:5:4:3 with points pointtype variable pointsize variable linewidth 1.5 linecolor rgb variable") \
        . part("roof_labels", "1:2:3:4 with labels right textcolor rgb variable") \
        . part("slope_label", "1:2:3:4 with labels left textcolor rgb variable") \
        . part("dot_key", "1:2:4 with points pointtype variable pointsize 1.3 linecolor rgb '#555555'") \
        . part("dot_key", "1:2:3 with labels right offset -1, 0 textcolor rgb '#202020'")
      unset logscale xy
    }
    unset label
  }
  unset multiplot
  unset output
  unset label; unset xlabel; unset ylabel
  set tics nomirror
}
