#!/usr/bin/env bash
# Runs a compiler. What nvcc's --resource-usage says (registers, shared memory, spills of each kernel) goes to OBJECT.usage
# instead of the build's output; a test reads it.
#
#   keep_usage.sh COMPILER… -o OBJECT …
[[ " $* " == *" --resource-usage "* ]] || exec "$@"
object=
previous=
for argument in "$@"; do
  [[ $previous != -o ]] || object=$argument
  previous=$argument
done
code=0
"$@" 2>"$object.usage" || code=$?
grep -vE '^ptxas info|^ +[0-9]+ bytes (stack frame|cumulative)' "$object.usage" >&2
exit "$code"
