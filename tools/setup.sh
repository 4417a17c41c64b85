#!/usr/bin/env bash
# Installs the packages named in the given lists that are missing here; does nothing where all are there.
#
#   tools/setup.sh packages.txt [more lists]
#
# Exit codes: 0 all packages are there · 1 the package manager failed · 2 it cannot be used here.
set -euo pipefail

if [[ $# -eq 0 ]]; then
  echo "usage: tools/setup.sh LIST..." >&2
  exit 2
fi

mapfile -t wanted < <(sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' "$@" | sort -u)

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  {
    echo "setup: this system has no apt-get. Install what these Debian packages hold: ${wanted[*]}."
    echo "setup: then run make again with SETUP=skip."
  } >&2
  exit 2
fi

# Names a virtual package too (g++ may be g++-12's), which dpkg-query finds by what is provided.
installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}, ${Provides}\n' |
  sed -n -e 's/^installed //p' | tr ',' '\n' | sed -e 's/(.*//' -e 's/[[:space:]]//g' | sort -u)
mapfile -t missing < <(comm -23 <(printf '%s\n' "${wanted[@]}") <(printf '%s\n' "$installed"))
[[ ${#missing[@]} -eq 0 ]] && exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    {
      echo "setup: packages are missing, and this user is neither root nor has sudo."
      echo "setup: ask for: apt-get install ${missing[*]}"
    } >&2
    exit 2
  fi
  as_root=(sudo)
  if ! sudo -n true 2>/dev/null && [[ ! -t 0 ]]; then
    {
      echo "setup: packages are missing, and sudo wants a password but there is no terminal to ask on."
      echo "setup: run: sudo apt-get install ${missing[*]}"
    } >&2
    exit 2
  fi
fi

echo "setup: installing ${missing[*]}"
# env, because sudo does not pass the variable on.
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)

updated=
for wait in 0 5 15; do
  sleep "$wait"
  # By default apt-get update takes an unreachable mirror for a warning and exits 0.
  if "${apt[@]}" update -qq --error-on=any; then
    updated=yes
    break
  fi
done
if [[ -z $updated ]]; then
  echo "setup: the package lists could not be fetched (is the network there?); trying with the lists at hand." >&2
fi

if ! "${apt[@]}" install --yes --no-install-recommends "${missing[@]}"; then
  {
    echo "setup: apt-get could not install what is missing. To do it by hand: apt-get install ${missing[*]}"
    [[ -n $updated ]] || echo "setup: the package lists could not be fetched either: check the network, then run make again."
  } >&2
  exit 1
fi
