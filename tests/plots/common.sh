# Shared by the tests of the pictures: sourced with the picture's name as PLOT and the checkout as source_folder.
# The SVG holds its words as text, so they can be looked for; the numbers are looked for in what jq makes of the file.

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# draw RESULT PICTURE: silent where all is well.
draw() {
  local said
  said=$(BENCH_RESULT=$1 BENCH_PICTURE=$2 gnuplot "$source_folder/plots/$PLOT.gp" 2>&1) || return 1
  [[ -z $said ]] || fail "gnuplot said: $said"
  [[ $(head -c 4 "$2.png" | tail -c 3) == PNG ]] || fail "$2.png is not a PNG"
  [[ $(tail -c 8 "$2.png" | head -c 4) == IEND ]] || fail "$2.png has no end"
  grep -q '</svg>' "$2.svg" || fail "$2.svg has no end"
}

holds() { grep -qF -- ">$2" "$1.svg" || fail "$1.svg does not say: $2"; }
lacks() { ! grep -qF -- "$2" "$1.svg" || fail "$1.svg says: $2"; }

tables() { jq -r -L "$source_folder/plots" -f "$source_folder/plots/$PLOT.jq" < "$1"; }
# table NAME: its rows, of tables on stdin.
table() { awk -v name="# $1" '/^# / { inside = ($0 == name); next } inside && NF' ; }
string() { table strings | awk -F '\t' -v key="$1" '$1 == key { print $2 }'; }

# same WHAT EXPECTED GOT, as numbers.
same() {
  awk -v a="$2" -v b="$3" 'BEGIN { d = a - b; exit !(b != "" && d < 1e-6 && d > -1e-6) }' || fail "$1: $3 instead of $2"
}

# A file of version 1 and the same of version 2 give the same picture; a point without an interval is drawn.
expect_both_versions() {
  jq '.schema = "bench-result/1"' "$1" > "$scratch/version1.json"
  jq '.schema = "bench-result/2" | .sessions = [{id: "a", started: "2026-03-01T12:34:56+01:00"}]
      | .benchmarks |= map(.rounds = [{samples: 3, session: 0, round: 0, order: 0, start_ns: 0}]
        | if .stats then .stats |= (del(.round_sizes) | .ci95_between_ns = null | .interval_kind = "rounds") else . end)' \
    "$1" > "$scratch/version2.json"
  cmp -s <(tables "$scratch/version1.json") <(tables "$scratch/version2.json") || fail "the versions' tables differ"
  jq '.benchmarks |= map(if .stats then .stats |= (.ci95_ns = null | .interval_kind = "none") else . end)' \
    "$scratch/version2.json" > "$scratch/no_interval.json"
  draw "$scratch/no_interval.json" "$scratch/no_interval"
}

# Names that a shell or gnuplot would like to run are drawn, and not run; what cannot be read leaves no picture.
expect_harmless_names_and_failures() {
  local odd="$scratch/a'b \"c\" \$(touch $scratch/ran) \`touch $scratch/ran\`; touch ran"
  mkdir -p "$(dirname "$odd")" && cp "$1" "$odd.json" && cp "$1" "$scratch/x.json"
  draw "$odd.json" "$odd"
  (cd "$scratch" && draw x.json "|touch ran")
  [[ ! -e $scratch/ran ]] || fail "a file name was run as a command"
  echo '{"benchmarks": [' > "$scratch/broken.json"
  ! draw "$scratch/broken.json" "$scratch/broken" || fail "a broken file was drawn"
  ! draw "$scratch/absent.json" "$scratch/absent" || fail "a missing file was drawn"
  [[ ! -e $scratch/broken.png && ! -e $scratch/absent.png ]] || fail "there is a picture of nothing"
  expect_its_own_prologue "$scratch/x.json"
  expect_both_versions "$1"
}

# The script loads the common.gp next to it, whatever its folder is called and wherever it is run from.
expect_its_own_prologue() {
  local odd="$scratch/plots of 'o' \$(touch $scratch/ran)"
  mkdir -p "$odd" "$scratch/elsewhere"
  cp -r "$source_folder/plots" "$odd"
  echo "system('touch $scratch/ran')" | tee "$odd/common.gp" > "$scratch/elsewhere/common.gp"
  draw_from "$scratch/elsewhere" "$odd/plots/$PLOT.gp" "$1"
  draw_from "$odd" "plots/$PLOT.gp" "$1"
  draw_from "$odd/plots" "$PLOT.gp" "$1"
  [[ ! -e $scratch/ran ]] || fail "another folder's common.gp was run, or a folder's name"
}

# draw_from FOLDER SCRIPT RESULT
draw_from() {
  rm -f "$scratch/moved.png"
  (cd "$1" && BENCH_RESULT=$3 BENCH_PICTURE=$scratch/moved gnuplot "$2") || fail "$2 failed in $1"
  [[ -e $scratch/moved.png ]] || fail "$2 drew nothing in $1"
}

finish() {
  if ((failures > 0)); then
    echo "$failures failed" >&2
    exit 1
  fi
  echo "all as expected"
}
