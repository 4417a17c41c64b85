# The CUDA device: nvcc, the CUDA Toolkit with cuBLASLt, and cuDNN 9, from NVIDIA's packages, the distribution's, or
# pip's wheels. Its code takes a quarter of the time of a build, so a machine without NVIDIA's driver builds it only if
# asked. Sets BENCH_CUDA_FOUND, and where the device is left out,
# BENCH_CUDA_MISSING to why and what to do. NCCL, by which ranks exchange data between cards, may be missing:
# BENCH_NCCL_FOUND.
set(BENCH_CUDA AUTO CACHE STRING
    "Build the CUDA device: AUTO (where all it needs is found, and a driver or CMAKE_CUDA_ARCHITECTURES), ON (or fail), OFF")
set_property(CACHE BENCH_CUDA PROPERTY STRINGS AUTO ON OFF)
if(NOT BENCH_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "BENCH_CUDA is '${BENCH_CUDA}'; accepted are AUTO, ON and OFF.")
endif()

# Folders with include/ and lib/ or bin/ in which pip's wheels put their parts, for this major version of CUDA or, where
# it is "", any: <site>/nvidia/cu13 for CUDA 13, <site>/nvidia/<part> for CUDA 12. Both put cuDNN into <site>/nvidia/cudnn:
# the wheel's name says for which version it is.
function(bench_cuda_wheels result major)
  set(sites "")
  find_program(BENCH_PYTHON NAMES python3)
  if(BENCH_PYTHON)
    execute_process(
      COMMAND ${BENCH_PYTHON} -c
              "import site, sysconfig; p = sysconfig.get_paths(); print(';'.join([p['purelib'], p['platlib'], site.getusersitepackages()]))"
      OUTPUT_VARIABLE sites OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  set(roots "")
  foreach(site IN LISTS sites)
    if(major STREQUAL "")
      file(GLOB parts "${site}/nvidia/cu1[23]" "${site}/nvidia/cuda_nvcc")
    else()
      file(GLOB parts "${site}/nvidia/cu${major}")
      if(major EQUAL 12)
        file(GLOB older "${site}/nvidia/cublas" "${site}/nvidia/cuda_nvrtc")
        list(APPEND parts ${older})
      endif()
      file(GLOB all "${site}/nvidia_cudnn_cu*.dist-info")
      file(GLOB own "${site}/nvidia_cudnn_cu${major}-*.dist-info")
      if(own OR NOT all)
        list(APPEND parts "${site}/nvidia/cudnn" "${site}/nvidia/nccl")
      endif()
    endif()
    list(APPEND roots ${parts} "${site}")
  endforeach()
  list(REMOVE_DUPLICATES roots)
  set(${result} ${roots} PARENT_SCOPE)
endfunction()

# PREFIX_LIBRARY and PREFIX_INCLUDE_DIR. The toolkit comes before wheels, wheels before the system, whether or not the
# library has a name without a version (in wheels it has none). Headers come from the library's own install where it has
# them, so that two installs are not mixed.
macro(bench_find_cuda_library prefix name version header)
  find_library(${prefix}_LIBRARY NAMES ${name} lib${name}.so.${version} NAMES_PER_DIR
               HINTS ${CUDAToolkit_LIBRARY_DIR} ${cuda_wheels} PATH_SUFFIXES lib lib64)
  get_filename_component(library_dir "${${prefix}_LIBRARY}" DIRECTORY)
  find_path(${prefix}_INCLUDE_DIR ${header} HINTS "${library_dir}/../include" ${CUDAToolkit_INCLUDE_DIRS} ${cuda_wheels}
            PATH_SUFFIXES include)
endmacro()

# "9.19" of the headers in a folder; empty where they do not say.
function(bench_cudnn_version result folder)
  set(version "")
  if(EXISTS "${folder}/cudnn_version.h")
    file(STRINGS "${folder}/cudnn_version.h" lines REGEX "define CUDNN_(MAJOR|MINOR) ")
    string(REGEX REPLACE ".*CUDNN_MAJOR ([0-9]+).*CUDNN_MINOR ([0-9]+).*" "\\1.\\2" version "${lines}")
  endif()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# Looks for nvcc where CUDACXX and -DCMAKE_CUDA_COMPILER say, in the path, and where toolkits are installed without
# being put into it. A compiler that does not compile counts as none: enable_language() would end the configuration.
macro(bench_check_nvcc)
  set(BENCH_CUDA_ASKED_FOR "$ENV{CUDACXX}")
  if(NOT CMAKE_CUDA_COMPILER OR NOT "${CMAKE_CUDA_COMPILER}" STREQUAL "${BENCH_CUDA_COMPILER_CHECKED}")
    if(CMAKE_CUDA_COMPILER)
      set(BENCH_CUDA_ASKED_FOR "${CMAKE_CUDA_COMPILER}")
    endif()
    unset(CMAKE_CUDA_COMPILER)
    unset(CMAKE_CUDA_COMPILER CACHE)
    if(NOT BENCH_CUDA_ASKED_FOR)
      unset(BENCH_NVCC CACHE)
      find_program(BENCH_NVCC NAMES nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH ${cuda_wheels} PATHS /usr/local/cuda
                   PATH_SUFFIXES bin)
      if(BENCH_NVCC)
        set(BENCH_CUDA_ASKED_FOR "${BENCH_NVCC}")
      endif()
    endif()
    if(BENCH_CUDA_ASKED_FOR)
      set(ENV{CUDACXX} "${BENCH_CUDA_ASKED_FOR}")
    endif()
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      set(BENCH_CUDA_COMPILER_CHECKED "${CMAKE_CUDA_COMPILER}" CACHE INTERNAL "")
    endif()
  endif()
endmacro()

# Architectures that nvcc compiles for, as numbers in ascending order; empty where it does not say, as a clang that
# compiles CUDA.
function(bench_nvcc_architectures result nvcc)
  execute_process(COMMAND ${nvcc} --list-gpu-arch OUTPUT_VARIABLE text RESULT_VARIABLE failed ERROR_QUIET)
  set(numbers "")
  if(failed EQUAL 0)
    string(REGEX MATCHALL "compute_[0-9]+" numbers "${text}")
    list(TRANSFORM numbers REPLACE "compute_" "")
    list(SORT numbers COMPARE NATURAL)
  endif()
  set(${result} ${numbers} PARENT_SCOPE)
endfunction()

# Those of `wanted` that are no architecture or none of nvcc's.
function(bench_foreign_architectures result wanted known)
  set(foreign "")
  foreach(one IN LISTS wanted)
    string(REGEX MATCH "^[0-9]+" number "${one}")
    if(NOT one MATCHES "^(all|all-major|native)$" AND
       NOT (one MATCHES "^[0-9]+[af]?(-real|-virtual)?$" AND number IN_LIST known))
      list(APPEND foreign "${one}")
    endif()
  endforeach()
  set(${result} ${foreign} PARENT_SCOPE)
endfunction()

# Whether this CMake takes `wanted`. enable_language() ends the configuration where it does not, and versions
# differ in the words they accept, such as native or 100f: those are tried in a project of their own.
function(bench_architectures_taken result wanted nvcc)
  set(asked "${CMAKE_VERSION};${nvcc};${wanted}")
  if("${wanted}" MATCHES "^[0-9]+(-real|-virtual)?(;[0-9]+(-real|-virtual)?)*$" OR
     "${asked}" STREQUAL "${BENCH_CUDA_ARCHITECTURES_TAKEN}")
    set(${result} TRUE PARENT_SCOPE)
    return()
  endif()
  set(folder "${CMAKE_BINARY_DIR}/CMakeFiles/architectures")
  file(REMOVE_RECURSE "${folder}")
  file(WRITE "${folder}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.22)\nproject(architectures LANGUAGES CUDA)\n")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S "${folder}" -B "${folder}/build" -G "${CMAKE_GENERATOR}"
            "-DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}" "-DCMAKE_CUDA_COMPILER=${nvcc}"
            "-DCMAKE_CUDA_HOST_COMPILER=${CMAKE_CUDA_HOST_COMPILER}" "-DCMAKE_CUDA_ARCHITECTURES=${wanted}"
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed EQUAL 0)
    set(BENCH_CUDA_ARCHITECTURES_TAKEN "${asked}" CACHE INTERNAL "")
    set(${result} TRUE PARENT_SCOPE)
  else()
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

# Whether NVIDIA's driver is installed; TRUE where nobody can tell.
function(bench_has_driver result)
  set(failed 0)
  if(BENCH_PYTHON)
    execute_process(COMMAND ${BENCH_PYTHON} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tools/gpu/look.py --driver
                    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  endif()
  if(failed EQUAL 0)
    set(${result} TRUE PARENT_SCOPE)
  else()
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

# The architectures of the cards that are here, as code and PTX; without a card, that of an RTX 30: every later card runs
# its PTX, and an earlier one gets an error that says what to build. One architecture takes a fifth of the time of the five
# in a package: see the Makefile.
function(bench_card_architecture result)
  set(here "")
  if(BENCH_PYTHON)
    execute_process(COMMAND ${BENCH_PYTHON} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tools/gpu/look.py --architectures
                    OUTPUT_VARIABLE here OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if("${here}" STREQUAL "")
    set(here 86)
  endif()
  set(${result} ${here} PARENT_SCOPE)
endfunction()

# The architectures that `wanted` expands to, between commas, for the program; empty where they are not known.
function(bench_compiled_architectures result wanted known)
  set(compiled "")
  foreach(one IN LISTS wanted)
    if(one STREQUAL "native")
      list(APPEND compiled ${CMAKE_CUDA_ARCHITECTURES_NATIVE})
    elseif(one MATCHES "^all(-major)?$" AND known STREQUAL "")
      set(compiled "")
      break()
    elseif(one MATCHES "^all(-major)?$")
      # As nvcc has it: code for all, or for those of minor version 0 and the oldest; PTX of the newest with 0.
      set(major ${known})
      list(FILTER major INCLUDE REGEX "0$")
      list(GET known 0 oldest)
      list(GET major -1 newest)
      set(code ${known})
      if(one STREQUAL "all-major")
        set(code ${oldest} ${major})
        list(REMOVE_DUPLICATES code)
      endif()
      list(TRANSFORM code APPEND "-real")
      list(APPEND compiled ${code} "${newest}-virtual")
    elseif(one MATCHES "^[0-9]")
      list(APPEND compiled "${one}")
    endif()
  endforeach()
  list(JOIN compiled "," compiled)
  set(${result} "${compiled}" PARENT_SCOPE)
endfunction()

# What make was given as ARCH, which asks for the device; in this run of cmake only.
set(asked_arch "${BENCH_ARCH}")
unset(BENCH_ARCH CACHE)

set(BENCH_CUDA_FOUND FALSE)
set(BENCH_NCCL_FOUND FALSE)
set(BENCH_CUDA_MISSING "")
# Written again where the device is left out; tools/gpu/look.py reads it.
file(REMOVE "${CMAKE_BINARY_DIR}/generated/bench_cuda_missing.h")

if(BENCH_CUDA STREQUAL "OFF")
  set(BENCH_CUDA_MISSING "it was switched off; make configure CMAKE_FLAGS=-DBENCH_CUDA=AUTO switches it on")
else()
  bench_cuda_wheels(cuda_wheels "")
  bench_check_nvcc()
  set(wanted TRUE)
  if(CMAKE_CUDA_COMPILER AND BENCH_CUDA STREQUAL "AUTO" AND "${CMAKE_CUDA_ARCHITECTURES}" STREQUAL "")
    bench_has_driver(wanted)
  endif()
  if(NOT wanted)
    string(CONCAT BENCH_CUDA_MISSING "this machine has no NVIDIA driver; `make build ARCH=86` builds it all the same, for an "
                                     "RTX 30 (ARCH=75 for a T4, ARCH=all for every card)")
  elseif(NOT CMAKE_CUDA_COMPILER AND BENCH_CUDA_ASKED_FOR)
    set(log CMakeConfigureLog.yaml)
    if(CMAKE_VERSION VERSION_LESS 3.26)
      set(log CMakeError.log)
    endif()
    string(CONCAT BENCH_CUDA_MISSING "${BENCH_CUDA_ASKED_FOR} is no nvcc that works with ${CMAKE_CXX_COMPILER} "
                                     "(CMakeFiles/${log} says why); make configure "
                                     "CMAKE_FLAGS=-DCMAKE_CUDA_COMPILER=/path/to/nvcc names another")
  elseif(NOT CMAKE_CUDA_COMPILER)
    string(CONCAT BENCH_CUDA_MISSING "no nvcc was found; install the CUDA Toolkit 12 or 13 (apt-get install cuda-toolkit-13 from "
                                     "NVIDIA), or name it: make configure CMAKE_FLAGS=-DCMAKE_CUDA_COMPILER=/path/to/nvcc")
  else()
    if("${CMAKE_CUDA_ARCHITECTURES}" STREQUAL "")
      bench_card_architecture(CMAKE_CUDA_ARCHITECTURES)
    endif()
    # enable_language() would end the configuration with pages of the compiler's output.
    bench_nvcc_architectures(known "${CMAKE_CUDA_COMPILER}")
    set(foreign "")
    set(taken TRUE)
    if(known AND CMAKE_CUDA_ARCHITECTURES)
      bench_foreign_architectures(foreign "${CMAKE_CUDA_ARCHITECTURES}" "${known}")
    endif()
    if(CMAKE_CUDA_ARCHITECTURES AND "${foreign}" STREQUAL "")
      bench_architectures_taken(taken "${CMAKE_CUDA_ARCHITECTURES}" "${CMAKE_CUDA_COMPILER}")
    endif()
  endif()
  set(advice "make configure ARCH=N, where N is the number of your card, such as 86")
  # Compared with "", for if() takes OFF, which is no architecture, for none at all.
  if(NOT wanted)
  elseif(CMAKE_CUDA_COMPILER AND NOT "${foreign}" STREQUAL "")
    list(JOIN foreign ", " foreign)
    list(JOIN known ", " known)
    string(CONCAT BENCH_CUDA_MISSING "${CMAKE_CUDA_COMPILER} does not compile for ${foreign}, which "
                                     "CMAKE_CUDA_ARCHITECTURES asks for; it has ${known}: ${advice}")
  elseif(CMAKE_CUDA_COMPILER AND NOT taken)
    list(JOIN CMAKE_CUDA_ARCHITECTURES ", " wanted)
    string(CONCAT BENCH_CUDA_MISSING "CMake ${CMAKE_VERSION} with ${CMAKE_CUDA_COMPILER} does not take ${wanted}, which "
                                     "CMAKE_CUDA_ARCHITECTURES asks for: ${advice}")
  elseif(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    bench_compiled_architectures(BENCH_CUDA_COMPILED_FOR "${CMAKE_CUDA_ARCHITECTURES}" "${known}")
    # CMake 3.25 does not know that nvcc 13 has C++20.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    # nvcc's host compiler looks there by itself; named once more, /usr/include would come before its own headers.
    list(APPEND CMAKE_CUDA_IMPLICIT_INCLUDE_DIRECTORIES ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
    find_package(CUDAToolkit 12 QUIET)
    bench_cuda_wheels(cuda_wheels "${CUDAToolkit_VERSION_MAJOR}")
    bench_find_cuda_library(CUDNN cudnn 9 cudnn_graph.h)
    bench_find_cuda_library(CUBLASLT cublasLt "${CUDAToolkit_VERSION_MAJOR}" cublasLt.h)
    bench_find_cuda_library(NCCL nccl 2 nccl.h)
    find_library(NVRTC_LIBRARY NAMES nvrtc libnvrtc.so.${CUDAToolkit_VERSION_MAJOR} NAMES_PER_DIR
                 HINTS ${CUDAToolkit_LIBRARY_DIR} ${cuda_wheels} PATH_SUFFIXES lib lib64)
    set(missing "")
    if(NOT CUDAToolkit_FOUND OR NOT TARGET CUDA::cudart_static)
      list(APPEND missing "the CUDA Toolkit 12 or 13 with libcudart_static.a")
    endif()
    if(NOT CUDNN_INCLUDE_DIR OR NOT CUDNN_LIBRARY)
      set(suffix "${CUDAToolkit_VERSION_MAJOR}")
      list(APPEND missing "cuDNN 9 (apt-get install cudnn9-cuda-${suffix} from NVIDIA, or pip install nvidia-cudnn-cu${suffix})")
    else()
      # Earlier headers cannot describe a card that is not here (kernels/devices/cuda/cudnn_version.h).
      bench_cudnn_version(cudnn_version "${CUDNN_INCLUDE_DIR}")
      if(cudnn_version AND cudnn_version VERSION_LESS 9.8)
        set(upgrade "pip install --upgrade nvidia-cudnn-cu${CUDAToolkit_VERSION_MAJOR}")
        list(APPEND missing "headers of cuDNN 9.8 or later (${CUDNN_INCLUDE_DIR} has those of ${cudnn_version}: ${upgrade})")
      endif()
    endif()
    if(NOT CUBLASLT_INCLUDE_DIR OR NOT CUBLASLT_LIBRARY)
      list(APPEND missing "cuBLASLt (part of the toolkit, or pip install nvidia-cublas, nvidia-cublas-cu12 for CUDA 12)")
    endif()
    if(NOT NVRTC_LIBRARY)
      list(APPEND missing "nvrtc (part of the toolkit, or pip install nvidia-cuda-nvrtc, nvidia-cuda-nvrtc-cu12 for CUDA 12)")
    endif()
    if(missing)
      list(JOIN missing ", " missing)
      set(BENCH_CUDA_MISSING "not found: ${missing}")
    else()
      set(BENCH_CUDA_FOUND TRUE)
    endif()
  endif()
  if(BENCH_CUDA STREQUAL "ON" AND NOT BENCH_CUDA_FOUND)
    message(FATAL_ERROR "BENCH_CUDA is ON, but the CUDA device cannot be built: ${BENCH_CUDA_MISSING}.")
  endif()
  if(asked_arch AND NOT BENCH_CUDA_FOUND)
    message(FATAL_ERROR "ARCH=${asked_arch} asks for the CUDA device, which cannot be built: ${BENCH_CUDA_MISSING}. "
                        "Without ARCH the program is built for the processor alone.")
  endif()
endif()

if(BENCH_CUDA_FOUND)
  set(BENCH_CUDA_VERSION "${CUDAToolkit_VERSION}" CACHE INTERNAL "")  # tools/gpu/bundle.py reads it
  message(STATUS "CUDA device: on, with CUDA ${CUDAToolkit_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
  add_library(bench_cuda_libraries INTERFACE)
  target_include_directories(bench_cuda_libraries SYSTEM INTERFACE ${CUDNN_INCLUDE_DIR} ${CUBLASLT_INCLUDE_DIR}
                                                                   ${CUDAToolkit_INCLUDE_DIRS})
  set(opened_libraries ${CUDNN_LIBRARY} ${CUBLASLT_LIBRARY} ${NVRTC_LIBRARY})
  if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
    set(BENCH_NCCL_FOUND TRUE)
    target_include_directories(bench_cuda_libraries SYSTEM INTERFACE ${NCCL_INCLUDE_DIR})
    list(APPEND opened_libraries ${NCCL_LIBRARY})
    find_package_message(bench_nccl "NCCL: ${NCCL_LIBRARY}" "[${NCCL_LIBRARY}]")
  else()
    set(packages "libnccl-dev from NVIDIA, or pip install nvidia-nccl-cu${CUDAToolkit_VERSION_MAJOR}")
    find_package_message(bench_nccl "NCCL: not found; ranks run on several cards after apt-get install ${packages}" "[]")
  endif()
  # The driver's library is never linked: the program starts on a machine without one. These libraries are opened when they
  # are first called (kernels/devices/cuda/toolkit/dynload.h, kernels/ranks/nccl/toolkit/): from LD_LIBRARY_PATH, else in the build
  # folder from where they were found, and for the installed program see Install.cmake.
  target_link_libraries(bench_cuda_libraries INTERFACE CUDA::cudart_static)
  foreach(library IN LISTS opened_libraries)
    get_filename_component(folder "${library}" DIRECTORY)
    list(APPEND CMAKE_BUILD_RPATH "${folder}")
  endforeach()
else()
  message(STATUS "CUDA device: off: ${BENCH_CUDA_MISSING}")
endif()
