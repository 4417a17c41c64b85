#!/usr/bin/env bash
# Fetches the clang-tidy that `make lint` runs, as a Python package of one pinned version: every machine reports the
# same findings, and this version does not walk through the standard library's headers, which took the distribution's
# clang-tidy 14 most of its time.
#
#   tools/setup-tidy.sh FOLDER      (build/tidy; the program comes to FOLDER/clang_tidy/data/bin/clang-tidy)
set -euo pipefail

version=23.1.4
folder=${1:?usage: tools/setup-tidy.sh FOLDER}
program=$folder/clang_tidy/data/bin/clang-tidy

[[ -x $program ]] && "$program" --version | grep -qF "$version" && exit 0

echo "setup: fetching clang-tidy $version"
if ! python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
  --only-binary :all: --retries 1 --timeout 60 --upgrade --target "$folder" "clang-tidy==$version"; then
  {
    echo "setup: clang-tidy $version could not be fetched. Install it with 'pip install clang-tidy==$version' and"
    echo "setup: run: make lint SETUP=skip CLANG_TIDY=/path/to/clang-tidy"
  } >&2
  exit 1
fi
