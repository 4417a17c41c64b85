#!/usr/bin/env bash
# cmake/Dependencies.cmake, included by a project of its own, where oneDNN or Google Benchmark is of another version: made-up
# packages say which.
#
#   tests/build/library_versions_test.sh SOURCE_FOLDER
set -euo pipefail

source=${1:?usage: library_versions_test.sh SOURCE_FOLDER}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.22)
project(library_versions LANGUAGES CXX)
include($source/cmake/Dependencies.cmake)
EOF

fail() {
  echo "FAILED: $1" >&2
  cat "$folder/log" >&2
  exit 1
}

# configure PACKAGE VERSION: with a package that has nothing but a version.
configure() {
  mkdir -p "$folder/$1"
  touch "$folder/$1/$1-config.cmake"
  printf 'set(PACKAGE_VERSION %s)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n' "$2" >"$folder/$1/$1-config-version.cmake"
  cmake -S "$folder" -B "$folder/build" "-D$1_DIR=$folder/$1" >"$folder/log" 2>&1
}

# refused PACKAGE NAME VERSION RANGE DEBIAN_PACKAGE
refused() {
  if configure "$1" "$3"; then
    fail "$2 $3 must be refused"
  fi
  # CMake breaks lines of an error's text.
  for words in "$2 $3 was found in $folder/$1" "accepted are versions from $4" "apt-get install $5" \
    "make configure CMAKE_FLAGS=-D$1_DIR="; do
    tr -s '\n ' '  ' <"$folder/log" | grep --quiet --fixed-strings -- "$words" || fail "$2 $3: expected '$words'"
  done
}

refused dnnl oneDNN 2.5.4 "2.6 to below 4" libdnnl-dev
refused dnnl oneDNN 4.0.0 "2.6 to below 4" libdnnl-dev
for version in 2.6.0 3.0.0 3.99.1; do
  configure dnnl "$version" || fail "oneDNN $version must be accepted"
done
refused benchmark "Google Benchmark" 1.5.6 "1.6 to below 2" libbenchmark-dev
refused benchmark "Google Benchmark" 2.0.0 "1.6 to below 2" libbenchmark-dev
echo "libraries of other versions are refused"
