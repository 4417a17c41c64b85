#!/bin/sh
# The steps of a benchmark gate; docs/ci.md shows them in GitHub Actions, GitLab and a plain shell. Packages have it as bench-gate.
#
#   gate.sh lock                the card's clocks, where that is permitted; says so where it is not
#   gate.sh unlock
#   gate.sh measure DIR         $RUNS runs of $SWEEP, one folder each in the new folder DIR: under two minutes
#   gate.sh compare BASE NEW    compares the runs of two folders; writes comment.md and junit.xml to NEW
#   gate.sh ab BASE_PROGRAM DIR measures two builds in turn, and compares; comment.md in DIR
#
# compare and ab end with bench's exit code: 0 no regression, 1 a regression, 3 inconclusive, 4 not comparable. Where there is no
# folder BASE yet, compare ends with 4, or, with NO_BASELINE=pass, says so and ends with 0.
# $BENCH is the program: else the one next to this script, else build/release/bench.
set -eu

here=$(dirname "$(readlink -f "$0")")
if [ -z "${BENCH:-}" ]; then
  BENCH=build/release/bench
  [ ! -x "$here/bench" ] || BENCH=$here/bench
fi
RUNS=${RUNS:-5}
SWEEP=${SWEEP:---sweep batch --workload resnet18 --image-size 96 --batch 1,4,16 --time-budget 20s}
OPTIONS=${OPTIONS:-}

# Base clocks: a card keeps them, while boost clocks follow its temperature.
lock() {
  if ! command -v nvidia-smi >/dev/null; then
    echo "clocks: not locked, there is no nvidia-smi"
  elif nvidia-smi --lock-gpu-clocks=tdp,tdp >/dev/null 2>&1; then
    echo "clocks: locked at the card's base clocks"
  else
    echo "clocks: not locked, this runner may not do it (it takes root); runs will differ more"
  fi
}

unlock() {
  if command -v nvidia-smi >/dev/null && nvidia-smi --reset-gpu-clocks >/dev/null 2>&1; then
    echo "clocks: as before"
  fi
}

measure() {
  if [ -e "$1/run-1" ]; then
    echo "${0##*/}: $1 has runs already, perhaps of another build; give a new folder" >&2
    return 2
  fi
  run=1
  while [ "$run" -le "$RUNS" ]; do
    # shellcheck disable=SC2086  # the sweep is several words
    "$BENCH" $SWEEP --no-plot --out "$1/run-$run" || [ $? -eq 3 ]
    run=$((run + 1))
  done
}

# Each format reads the files again, which takes a second; the last one's exit code is the gate's.
compare() {
  if [ ! -e "$1" ] && [ "${NO_BASELINE:-}" = pass ]; then
    why="There is no baseline yet, so nothing was compared: the next run of the default branch measures it."
    printf '### bench compare: no baseline yet\n\n%s\n' "$why" >"$2/comment.md"
    echo "${GITHUB_ACTIONS:+::notice::}$why"
    return 0
  fi
  for folder in "$1" "$2"; do
    ls "$folder"/run-*/*.json >/dev/null 2>&1 || {
      echo "gate.sh: $folder holds no runs; measure first: gate.sh measure $folder" >&2
      return 4
    }
  done
  # shellcheck disable=SC2086
  set -- "$2" $OPTIONS "$1"/run-*/*.json -- "$2"/run-*/*.json
  new=$1
  shift
  "$BENCH" compare --format markdown "$@" >"$new/comment.md" 2>"$new/refused.txt" || true
  if ! [ -s "$new/comment.md" ]; then  # nothing to compare: the reason, indented, so that none of it is markup
    { printf '### bench compare: nothing compared\n\n'; sed 's/^/    /' "$new/refused.txt"; } >"$new/comment.md"
  fi
  rm "$new/refused.txt"
  "$BENCH" compare --format junit "$@" >"$new/junit.xml" 2>/dev/null || true
  [ -s "$new/junit.xml" ] || rm "$new/junit.xml"
  if [ -n "${GITHUB_ACTIONS:-}" ]; then
    "$BENCH" compare --format github "$@" || true
  fi
  "$BENCH" compare "$@"
}

ab() {
  mkdir -p "$2"
  code=0
  # shellcheck disable=SC2086
  "$BENCH" ab $OPTIONS --time-budget "${AB_TIME:-20min}" --out "$2/ab" --format markdown "$1" "$BENCH" -- $SWEEP \
    >"$2/comment.md" || code=$?
  [ -s "$2/comment.md" ] || printf '### bench ab: nothing compared\n\nThe log says why.\n' >"$2/comment.md"
  cat "$2/comment.md"
  return "$code"
}

case "${1:-}" in
  lock | unlock) wanted=1 ;;
  measure) wanted=2 ;;
  *) wanted=3 ;;
esac
[ $# -eq $wanted ] || set --
case "${1:-}" in
  lock | unlock | measure | compare | ab) "$@" ;;
  *) sed -n '2,/^set /s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
