# Every library the program stands on, found in one place. Debian and Ubuntu package names are in
# packages.txt; why each was chosen is in docs/dependencies.md.
include(FindPackageMessage)

function(bench_require package debian_package)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found. Install it with: apt-get install ${debian_package} "
                        "(or run `make setup`, which installs all packages in packages.txt).")
  endif()
endfunction()

bench_require(nlohmann_json nlohmann-json3-dev)
bench_require(fmt libfmt-dev)
bench_require(CLI11 libcli11-dev)
bench_require(benchmark libbenchmark-dev)
bench_require(dnnl libdnnl-dev)
bench_require(OpenMP g++)
bench_require(Eigen3 libeigen3-dev NO_MODULE)
bench_require(JPEG libjpeg-dev)
bench_require(LibArchive libarchive-dev)
bench_require(Threads g++)
