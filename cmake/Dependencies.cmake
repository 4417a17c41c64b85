# Every library the program stands on, found in one place. Debian and Ubuntu package names are in
# packages.txt; why each was chosen is in docs/dependencies.md.
include(FindPackageMessage)

# Linked as archives where the distribution has them: the program then runs where these libraries are missing. libarchive's shared
# one brings ICU through libxml2, 33 MB, for formats that nobody here reads.
find_library(BENCH_JPEG_ARCHIVE libjpeg.a)
find_library(BENCH_ARCHIVE_ARCHIVE libarchive.a)
find_library(BENCH_ZLIB_ARCHIVE libz.a)
mark_as_advanced(BENCH_JPEG_ARCHIVE BENCH_ARCHIVE_ARCHIVE BENCH_ZLIB_ARCHIVE)
if(BENCH_JPEG_ARCHIVE)
  set(JPEG_LIBRARY_RELEASE "${BENCH_JPEG_ARCHIVE}" CACHE FILEPATH "" FORCE)
endif()
if(BENCH_ARCHIVE_ARCHIVE AND BENCH_ZLIB_ARCHIVE)
  set(LibArchive_LIBRARY "${BENCH_ARCHIVE_ARCHIVE}" CACHE FILEPATH "" FORCE)
endif()

function(bench_require package debian_package)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found. Install it with: apt-get install ${debian_package} "
                        "(or run `make setup`, which installs all packages in packages.txt).")
  endif()
  set(${package}_VERSION "${${package}_VERSION}" PARENT_SCOPE)
endfunction()

# Refuses versions below LEAST and from BEFORE on.
function(bench_require_version package name debian_package least before)
  if(${package}_VERSION VERSION_LESS ${least} OR NOT ${package}_VERSION VERSION_LESS ${before})
    message(FATAL_ERROR "${name} ${${package}_VERSION} was found in ${${package}_DIR}; accepted are versions from ${least} to below "
                        "${before}, as Debian 12 and 13 have. Install the distribution's with: "
                        "apt-get install ${debian_package}, and choose it with: make configure "
                        "CMAKE_FLAGS=-D${package}_DIR=/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/cmake/${package}")
  endif()
endfunction()

bench_require(nlohmann_json nlohmann-json3-dev)
bench_require(fmt libfmt-dev)
set(BENCH_FMT fmt::fmt CACHE STRING "Or fmt::fmt-header-only: takes longer to compile, and nothing of it is installed")
bench_require(CLI11 libcli11-dev)
bench_require(benchmark libbenchmark-dev)
bench_require_version(benchmark "Google Benchmark" libbenchmark-dev 1.6 2)
bench_require(dnnl libdnnl-dev)
bench_require_version(dnnl oneDNN libdnnl-dev 2.6 4)
bench_require(OpenMP g++)
bench_require(Eigen3 libeigen3-dev NO_MODULE)
bench_require(JPEG libjpeg-dev)
bench_require(LibArchive libarchive-dev)
bench_require(Threads g++)
if(BENCH_ARCHIVE_ARCHIVE AND BENCH_ZLIB_ARCHIVE)
  set_property(TARGET LibArchive::LibArchive APPEND PROPERTY INTERFACE_LINK_LIBRARIES "${BENCH_ZLIB_ARCHIVE}")
endif()
