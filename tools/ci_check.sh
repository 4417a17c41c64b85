#!/usr/bin/env bash
# The files for CI systems, by the systems' own tools: the ReFrame test runs on this machine, the others are linted.
#
#   tools/ci_check.sh TOOLS_FOLDER PROGRAM
set -euo pipefail

tools=$(realpath "${1:?usage: tools/ci_check.sh TOOLS_FOLDER PROGRAM}")
program=$(realpath "${2:?usage: tools/ci_check.sh TOOLS_FOLDER PROGRAM}")
cd "$(dirname "$0")/.."

"$tools/bin/check-jsonschema" --builtin-schema vendor.github-workflows docs/ci/github-workflow.yml
"$tools/bin/check-jsonschema" --builtin-schema vendor.github-actions docs/ci/action/action.yml
"$tools/bin/hadolint" tools/package/Containerfile

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
TMPDIR=$scratch "$tools/bin/reframe" --prefix "$scratch" -c docs/ci/reframe_bench.py -r --performance-report \
  -S bench="$program" -S device=cpu
