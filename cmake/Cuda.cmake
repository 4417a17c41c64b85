# The CUDA device: nvcc, the CUDA Toolkit with cuBLASLt, cuDNN 9 and the headers of cudnn-frontend. Sets
# BENCH_CUDA_FOUND, and where the device is left out, BENCH_CUDA_MISSING to why and what to do.
set(BENCH_CUDA AUTO CACHE STRING "Build the CUDA device: AUTO (where all it needs is found), ON (or fail), OFF")
set_property(CACHE BENCH_CUDA PROPERTY STRINGS AUTO ON OFF)
if(NOT BENCH_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "BENCH_CUDA is '${BENCH_CUDA}'; accepted are AUTO, ON and OFF.")
endif()

set(BENCH_CUDA_FOUND FALSE)
set(BENCH_CUDA_MISSING "")

# Where pip installs NVIDIA's wheels and the headers of cudnn-frontend: <prefix>/nvidia/<part>/{include,lib}.
set(cuda_wheels "")
find_program(BENCH_PYTHON NAMES python3)
if(BENCH_PYTHON)
  execute_process(COMMAND ${BENCH_PYTHON} -c "import sysconfig; p = sysconfig.get_paths(); print(p['purelib'] + ';' + p['platlib'])"
                  OUTPUT_VARIABLE cuda_wheels OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
list(APPEND cuda_wheels "${CMAKE_SOURCE_DIR}/build/wheels")
list(REMOVE_DUPLICATES cuda_wheels)
set(cuda_wheel_roots "")
foreach(site IN LISTS cuda_wheels)
  file(GLOB parts "${site}/nvidia/cu13" "${site}/nvidia/cublas" "${site}/nvidia/cudnn")
  list(APPEND cuda_wheel_roots ${parts} ${site})
endforeach()

if(BENCH_CUDA STREQUAL "OFF")
  set(BENCH_CUDA_MISSING "it was switched off; rerun cmake with -DBENCH_CUDA=AUTO")
else()
  include(CheckLanguage)
  check_language(CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    set(BENCH_CUDA_MISSING "no nvcc was found; install the CUDA Toolkit 12 or 13, or rerun cmake with "
                           "-DCMAKE_CUDA_COMPILER=/path/to/nvcc")
    string(CONCAT BENCH_CUDA_MISSING ${BENCH_CUDA_MISSING})
  else()
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      # T4, A100, RTX 30 series, RTX 40 series and L4, H100 and H200; the last as PTX too, for what comes later.
      set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90)
    endif()
    enable_language(CUDA)
    # CMake 3.25 does not know that nvcc 13 has C++20.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    # nvcc's host compiler looks there by itself; named once more, /usr/include would come before its own headers.
    list(APPEND CMAKE_CUDA_IMPLICIT_INCLUDE_DIRECTORIES ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
    find_package(CUDAToolkit 12 QUIET)
    find_path(CUDNN_INCLUDE_DIR cudnn_graph.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ${cuda_wheel_roots}
              PATH_SUFFIXES include)
    find_library(CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 HINTS ${CUDAToolkit_LIBRARY_DIR} ${cuda_wheel_roots}
                 PATH_SUFFIXES lib lib64)
    find_library(CUBLASLT_LIBRARY NAMES cublasLt libcublasLt.so.13 libcublasLt.so.12
                 HINTS ${CUDAToolkit_LIBRARY_DIR} ${cuda_wheel_roots} PATH_SUFFIXES lib lib64)
    find_path(CUDNN_FRONTEND_INCLUDE_DIR cudnn_frontend.h HINTS ${cuda_wheel_roots} ENV CUDNN_FRONTEND_ROOT
              PATH_SUFFIXES include)
    set(missing "")
    if(NOT CUDAToolkit_FOUND)
      list(APPEND missing "the CUDA Toolkit 12 or 13")
    endif()
    if(NOT CUDNN_INCLUDE_DIR OR NOT CUDNN_LIBRARY)
      list(APPEND missing "cuDNN 9 (NVIDIA's cudnn9-cuda-13 or cudnn9-cuda-12, or pip install nvidia-cudnn-cu13)")
    endif()
    if(NOT CUBLASLT_LIBRARY)
      list(APPEND missing "cuBLASLt (part of the toolkit, or pip install nvidia-cublas)")
    endif()
    if(NOT CUDNN_FRONTEND_INCLUDE_DIR)
      list(APPEND missing "the headers of cudnn-frontend (make setup-cuda, or pip install nvidia-cudnn-frontend)")
    endif()
    if(missing)
      list(JOIN missing "; " missing)
      set(BENCH_CUDA_MISSING "not found: ${missing}")
    else()
      set(BENCH_CUDA_FOUND TRUE)
    endif()
  endif()
  if(BENCH_CUDA STREQUAL "ON" AND NOT BENCH_CUDA_FOUND)
    message(FATAL_ERROR "BENCH_CUDA is ON, but the CUDA device cannot be built: ${BENCH_CUDA_MISSING}.")
  endif()
endif()

if(BENCH_CUDA_FOUND)
  message(STATUS "CUDA device: on, with CUDA ${CUDAToolkit_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
  add_library(bench_cuda_libraries INTERFACE)
  target_include_directories(bench_cuda_libraries SYSTEM INTERFACE ${CUDNN_INCLUDE_DIR} ${CUDNN_FRONTEND_INCLUDE_DIR}
                                                                   ${CUDAToolkit_INCLUDE_DIRS})
  # The driver's library is never linked: the program starts on a machine without one. cudnn-frontend calls nvrtc.
  target_link_libraries(bench_cuda_libraries INTERFACE CUDA::cudart_static CUDA::nvrtc ${CUDNN_LIBRARY} ${CUBLASLT_LIBRARY})
else()
  message(STATUS "CUDA device: off: ${BENCH_CUDA_MISSING}")
endif()
