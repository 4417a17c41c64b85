# The start of every script here: reads a result through jq, and says where the picture goes. The script sets `sweep`, its
# own name, and `folder`, which ends in a slash. File names reach the shell through the environment, so that no character
# in them is ever read as a command; the folder alone is quoted.

quoted = ""
do for [i = 1:strlen(folder)] { quoted = quoted . (folder[i:i] eq "'" ? "'\\''" : folder[i:i]) }

# Empty where jq is missing or the file is not JSON: the reason is on stderr.
text = system(sprintf("jq -r -L '%s' -f '%s%s.jq' < \"$BENCH_RESULT\"", quoted, quoted, sweep))
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
if (strlen(picture) == 0) { picture = sweep }
# gnuplot would run a name that starts with a bar.
if (picture[1:1] ne "/") { picture = "./" . picture }
