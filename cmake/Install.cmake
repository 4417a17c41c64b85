# `cmake --install`: libexec/bench is the program, bin/bench what starts it, lib has the libraries that it needs but the system's C
# and C++ ones, share/doc/bench, and the manual page, which the program writes. The tree runs from wherever it is moved to. The C++
# library stays the system's, as oneDNN and whatever is opened later use it too: Debian 12's needs glibc 2.36, and one of its own
# in the program would be a second.
# A run path does not serve the libraries' own libraries: all of them are named by the program.
if(TARGET OpenCL::OpenCL)
  get_target_property(opencl OpenCL::OpenCL IMPORTED_LOCATION)
  target_link_options(bench PRIVATE LINKER:--push-state,--no-as-needed "${opencl}" LINKER:--pop-state)
endif()

# CUDA's own libraries are looked for in LD_LIBRARY_PATH, in the toolkit's usual folder, then in the system's.
set(run_path "$ORIGIN/../lib")
if(BENCH_CUDA_FOUND)
  list(APPEND run_path /usr/local/cuda/lib64)
endif()
# A run path of the build folder that CMake itself replaces when installing ends in a colon, which means the current folder.
set(build_run_path ${CMAKE_BUILD_RPATH} ${run_path})
list(REMOVE_DUPLICATES build_run_path)
set_target_properties(bench PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${build_run_path}")
install(TARGETS bench RUNTIME DESTINATION libexec)

# It needs the system's C and C++ libraries alone, whose usual folders are its DT_RPATH: unlike a DT_RUNPATH, that comes before
# LD_LIBRARY_PATH.
add_executable(bench_start bench/start/start.cpp)
target_link_libraries(bench_start PRIVATE bench_host)
target_link_options(bench_start PRIVATE LINKER:--as-needed,--disable-new-dtags)
set_target_properties(bench_start PROPERTIES OUTPUT_NAME bench RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/start"
                      BUILD_WITH_INSTALL_RPATH ON
                      INSTALL_RPATH "/lib/${CMAKE_LIBRARY_ARCHITECTURE};/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE};/lib64;/usr/lib64")
add_dependencies(bench bench_start)
install(TARGETS bench_start RUNTIME DESTINATION bin)
install(PROGRAMS docs/ci/gate.sh DESTINATION bin RENAME bench-gate)
foreach(name openmpi mpich)
  if(TARGET bench_ranks_${name})
    set_target_properties(bench_ranks_${name} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS bench_ranks_${name} LIBRARY DESTINATION lib)
  endif()
endforeach()
list(JOIN build_run_path ":" build_run_path)
list(JOIN run_path ":" run_path)
string(CONFIGURE [[
  set(program "$<TARGET_FILE:bench>")
  set(CMAKE_OBJDUMP "@CMAKE_OBJDUMP@")
  file(RPATH_CHANGE FILE "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/libexec/bench" OLD_RPATH "@build_run_path@" NEW_RPATH "@run_path@")
]] places @ONLY)
string(REPLACE "$ORIGIN" "\$ORIGIN" places "${places}")
install(CODE "${places}")
# Of the pages that README.md links to, packages hold none: the links' words stay.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS README.md)
file(READ README.md readme)
string(FIND "${readme}" "```\nmake run " from)
string(FIND "${readme}" "## Output" to)
string(SUBSTRING "${readme}" 0 ${from} before)
string(SUBSTRING "${readme}" ${to} -1 after)
set(readme "${before}```\nbench --sweep batch --quick    # a first answer in 10 s\nbench --help\n```\n\n${after}")
string(REGEX REPLACE "!\\[[^]]*\\]\\([^)]*\\)\n" "" readme "${readme}")
string(REGEX REPLACE "\\[([^]]*)\\]\\([^)]*\\)" "\\1" readme "${readme}")
file(WRITE "${CMAKE_BINARY_DIR}/generated/README.md" "${readme}")
install(FILES LICENSE NOTICE "${CMAKE_BINARY_DIR}/generated/README.md" DESTINATION share/doc/bench)
install(CODE [[
  set(CMAKE_GET_RUNTIME_DEPENDENCIES_TOOL objdump)
  set(CMAKE_GET_RUNTIME_DEPENDENCIES_COMMAND "${CMAKE_OBJDUMP}")
  file(GET_RUNTIME_DEPENDENCIES EXECUTABLES "${program}" RESOLVED_DEPENDENCIES_VAR libraries
       PRE_EXCLUDE_REGEXES "^(lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s)|ld-linux[^/]*)\\.so")
  set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
  file(MAKE_DIRECTORY "${root}/share/man/man1")
  execute_process(COMMAND "${program}" --man OUTPUT_FILE "${root}/share/man/man1/bench.1" COMMAND_ERROR_IS_FATAL ANY)
  foreach(library IN LISTS libraries)
    get_filename_component(name "${library}" NAME)
    message(STATUS "Installing: ${root}/lib/${name}")
    file(COPY_FILE "${library}" "${root}/lib/${name}")
  endforeach()
  # As Debian and Ubuntu keep them; elsewhere NOTICE alone names them.
  file(GLOB versioned RELATIVE /usr/share/doc "/usr/share/doc/libdnnl[0-9]*" "/usr/share/doc/libbenchmark[0-9]*")
  foreach(package ${versioned} libgomp1 ocl-icd-libopencl1 libfmt-dev nlohmann-json3-dev libcli11-dev libeigen3-dev
                  libarchive-dev zlib1g-dev libjpeg62-turbo-dev libjpeg-turbo8-dev)
    get_filename_component(folder "/usr/share/doc/${package}" REALPATH)
    if(EXISTS "${folder}/copyright")
      file(MAKE_DIRECTORY "${root}/share/doc/bench/licences")
      file(COPY_FILE "${folder}/copyright" "${root}/share/doc/bench/licences/${package}")
    endif()
  endforeach()
]])
# Of the CUDA runtime, as NVIDIA's toolkit keeps it, or its wheels.
if(BENCH_CUDA_FOUND)
  file(GLOB agreement "${CUDAToolkit_BIN_DIR}/../EULA.txt" "${CUDAToolkit_BIN_DIR}/../dist-info/nvidia_cuda_runtime-*/licenses/License.txt")
  list(SUBLIST agreement 0 1 agreement)
  install(FILES ${agreement} DESTINATION share/doc/bench/licences RENAME cuda-toolkit)
endif()
