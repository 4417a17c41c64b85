# The start of every script here: reads a result through jq, and has what the pictures share. The script sets `folder`,
# which ends in a slash, and `sweep`, its own name. File names reach the shell through the environment, so that no character
# in them is ever read as a command; the folder alone is quoted.

quoted = ""
do for [i = 1:strlen(folder)] { quoted = quoted . (folder[i:i] eq "'" ? "'\\''" : folder[i:i]) }

# Empty where jq is missing or the file is not JSON: the reason is on stderr.
text = system(sprintf("jq -r -L '%s' -f '%s%s.jq' < \"$BENCH_RESULT\"", quoted, quoted, sweep))
if (strlen(text) == 0) { exit status 1 }

# The value after a key of the first table; empty or 0 without it, for gnuplot reads a loop's body even where it runs over
# nothing.
text_of(key) = (at = strstrt(text, "\n" . key . "\t"), rest = text[at + strlen(key) + 2:at + strlen(key) + 400], to = strstrt(rest, "\n"), \
  at == 0 ? "" : to > 0 ? rest[1:to - 1] : rest)
n(key) = (value = text_of(key), strlen(value) > 0 ? value + 0 : 0)
known(key) = n(key) > 0 ? n(key) : NaN
# A table that may be empty is drawn by `for [i = 1:has("x")] $data index of("x")`: gnuplot warns about empty tables, even in
# a loop that does not run.
has(table) = n("rows_" . table) > 0
of(table) = has(table) ? table : "none"

set print $data
print text
unset print
set datafile separator "\t"

picture = system("printf %s \"$BENCH_PICTURE\"")
if (strlen(picture) == 0) { picture = sweep }
# gnuplot would run a name that starts with a bar.
if (picture[1:1] ne "/") { picture = "./" . picture }

gray = "#555555"
notes = ""
do for [i = 1:int(n("notes"))] { notes = notes . text_of("note" . i) . "\n" }
# Lines of text that the notes take at the foot of the page, and the title at its head.
foot = n("notes") + 1.5
head = strlen(text_of("answer_more")) > 0 ? 7.4 : strlen(text_of("answer")) > 0 ? 6 : 4.5

# Letters are measured in points in a PNG and in pixels in an SVG, whose lines and marks come out larger.
letters(points) = sprintf(",%d", kind eq "png" ? points : 1.25 * points + 0.5)
# Begins a page with room for panels of that height in all, for so many lines around them, and for the title and the notes,
# which are drawn with the first panel.
page(panels, lines) = (line = kind eq "png" ? 20 : 24, dot = kind eq "png" ? 1 : 0.6, height = panels + line * (foot + head + lines), \
  "set terminal " . (kind eq "png" ? "pngcairo" : "svg") \
  . sprintf(" size 1600, %d font 'DejaVu Sans,%d' noenhanced background rgb 'white';", height, kind eq "png" ? 13 : 16) \
  . "set output picture . '.' . kind; set style textbox opaque noborder margins 0.3, 0.1 fillcolor rgb 'white'; set samples 500;" \
  . "small = letters(11); large = letters(15); huge = letters(17);")
heading = "set label 1 text_of('title') at screen 0.5, screen 1 center offset 0, -1.4 font huge;" \
  . "set label 2 text_of('answer') at screen 0.5, screen 1 center offset 0, -2.9 font large;" \
  . "set label 5 text_of('answer_more') at screen 0.5, screen 1 center offset 0, -4.3 font large;" \
  . "set label 3 text_of('subtitle') at screen 0.5, screen 1 center offset 0, 1.6 - head textcolor rgb gray;" \
  . "set label 4 notes at screen 0, screen 0 left offset 4, foot - 0.9 textcolor rgb '#444444';"
# Begins each panel.
panel = "unset label; unset arrow; unset title; unset xlabel; unset ylabel; unset logscale; set offsets; set xrange [*:*]; set yrange [*:*];" \
  . "set border 3 linecolor rgb '#606060'; set format '%h'; unset xtics; unset ytics; set tics out scale 0.6 textcolor rgb '#202020' font '';" \
  . "set xtics nomirror autofreq norotate; set ytics nomirror autofreq; unset grid; set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1;" \
  . "set key default; set key Left reverse samplen 2; set errorbars 1;"
bytes_tics = "set xtics ('1 KiB' 2**10, '8 KiB' 2**13, '64 KiB' 2**16, '512 KiB' 2**19, '4 MiB' 2**22, '32 MiB' 2**25, '256 MiB' 2**28, '2 GiB' 2**31, '16 GiB' 2**34);"
# A panel of one sentence.
sentence(words) = "unset border; unset tics; unset grid; unset key; set xrange [0:1]; set yrange [0:1];" \
  . "set label 30 '" . words . "' at graph 0.5, 0.5 center textcolor rgb gray; plot NaN notitle;"

if (n("measured") == 0) {
  do for [kind in "png svg"] {
    eval page(200, 0)
    eval panel . heading . sentence("No point was measured.")
    unset output
  }
  exit gnuplot
}
