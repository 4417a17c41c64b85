#!/usr/bin/env bash
# Fetches check-jsonschema, which has the schemas of GitHub's workflows and GitLab's jobs with it: `make lint` checks the
# files of docs/ci/ against them.
#
#   tools/setup-schemas.sh FOLDER      (build/schemas; then: PYTHONPATH=FOLDER python3 -m check_jsonschema …)
set -euo pipefail

version=0.29.4
folder=${1:?usage: tools/setup-schemas.sh FOLDER}

[[ -d $folder/check_jsonschema-$version.dist-info ]] && exit 0

echo "setup: fetching check-jsonschema $version"
if ! python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --only-binary :all: \
  --retries 1 --timeout 60 --upgrade --target "$folder" "check-jsonschema==$version"; then
  {
    echo "setup: check-jsonschema $version could not be fetched; it is 'pip install check-jsonschema==$version'."
    echo "setup: 'make lint SETUP=skip' leaves the check of docs/ci/ out."
  } >&2
  exit 1
fi
