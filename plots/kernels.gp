# Draws a result of `bench --sweep kernels`: bandwidth against bytes touched next to the roofline.
#
#   BENCH_RESULT=results/local/x.json BENCH_PICTURE=results/local/x gnuplot plots/kernels.gp
#
# writes x.png and x.svg. kernels.jq decides what is drawn where.

sweep = "kernels"
folder = ARG0
do for [i = strlen(ARG0):1:-1] { if (ARG0[i:i] eq "/") { folder = ARG0[1:i]; break } else { folder = "" } }
# Without a slash in front gnuplot would read some names as commands, and search for others.
if (folder[1:1] ne "/") { folder = "./" . folder }
load folder . "common.gp"

# The key's entries of one kind: names and looks are asked for by their number, and no name is ever evaluated.
entries(kind, how) = (all = "", sum [i = 1:int(n(kind . "s"))] (all = all . sprintf(", keyentry " . how . " title text_of('%s%d')", kind, i, kind, i), 0), all)

note_height = 0.034
bottom = 0.01 + note_height * n("notes")

do for [kind in "png svg"] {
  if (kind eq "png") {
    set terminal pngcairo size 1600, 760 font "DejaVu Sans,13" noenhanced background rgb "white"
  } else {
    set terminal svg size 1600, 760 font "DejaVu Sans,16" noenhanced background rgb "white"
  }
  set output picture . "." . kind

  set multiplot title text_of("title") . "\n" . text_of("subtitle") font ",17" noenhanced
  set border 3 linecolor rgb "#606060"
  set tics nomirror out scale 0.6 textcolor rgb "#202020"
  set grid linecolor rgb "#e4e4e4" linewidth 1 linetype 1
  set size 0.5, 0.9 - bottom
  do for [i = 1:int(n("notes"))] {
    set label i text_of("note" . i) at screen 0.035, 0.025 + note_height * (n("notes") - i) left textcolor rgb "#444444" noenhanced
  }
  if (n("measured") == 0) {
    set label 20 "No point was measured." at screen 0.5, 0.55 center font ",20" textcolor rgb "#990000"
  }

  set origin 0, bottom
  if (n("has_stream") == 0) {
    if (n("measured") > 0) { set label 20 "No stream kernel was measured." at screen 0.25, 0.5 center textcolor rgb "#555555" }
    unset border; unset tics; unset grid
    set xrange [0:1]; set yrange [0:1]
    plot NaN notitle
  } else {
    set title "What memory and caches deliver\nsolid, round: hot caches; dashed, square: cold; open: flagged"
    set xlabel "bytes touched"; set ylabel "read and written"
    set logscale x 2; set xrange [n("bytes_min"):n("bytes_max")]
    set xtics ("1 KiB" 1024, "8 KiB" 8192, "64 KiB" 65536, "512 KiB" 524288, "4 MiB" 2**22, "32 MiB" 2**25, "256 MiB" 2**28, "2 GiB" 2**31, "16 GiB" 2**34)
    set key above
    set yrange [0:*]; set format y "%.0s %cB/s"
    eval "plot NaN notitle" \
      . part("hot", "1:2:4:3 with linespoints pointtype variable pointsize 1.2 linewidth 1.8 linecolor rgb variable notitle") \
      . part("cold", "1:2:4:3 with linespoints dashtype (8, 6) pointtype variable pointsize 1.2 linewidth 1.6 linecolor rgb variable notitle") \
      . entries("mode", "with lines linewidth 3 linecolor rgb int(n('%s%d_look'))")
  }
  unset label; unset logscale; set format; set tics autofreq; set xrange [*:*]; set yrange [*:*]

  set origin 0.5, bottom
  if (n("has_roofline") == 0) {
    if (n("measured") > 0) { set label 20 "No operation with arithmetic was measured." at screen 0.75, 0.5 center textcolor rgb "#555555" }
    unset border; unset tics; unset grid; unset title; unset xlabel; unset ylabel
    set xrange [0:1]; set yrange [0:1]
    plot NaN notitle
  } else {
    set border 3 linecolor rgb "#606060"
    set tics nomirror out scale 0.6 textcolor rgb "#202020"
    set grid linecolor rgb "#e4e4e4" linewidth 1 linetype 1
    set title "Roofline, measured\nsmall, pale: cold caches; open: flagged; dotted: maker's figures"
    set xlabel "floating-point operations for each byte moved"; unset ylabel
    set key inside bottom right
    set logscale xy 10; set format y "%.0s %cFLOP/s"; set format x "%g"
    set xrange [n("intensity_min"):n("intensity_max")]; set yrange [n("rate_min"):n("rate_max")]
    eval "plot NaN notitle" \
      . part("sheets", "1:2:3 with lines dashtype (2, 4) linewidth 1.6 linecolor rgb variable notitle") \
      . part("roofs", "1:2:3 with lines linewidth 2 linecolor rgb variable notitle") \
      . part("dots", "1:2:5:4:3 with points pointtype variable pointsize variable linewidth 1.5 linecolor rgb variable notitle") \
      . entries("roof", "with lines linewidth 3 linecolor rgb int(n('%s%d_look'))") \
      . entries("shape", "with points pointtype int(n('%s%d_look')) pointsize 1.3 linecolor rgb '#555555'")
  }
  unset multiplot
  unset output
  reset
}
