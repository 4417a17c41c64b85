# `cmake --install`: bin/bench, lib with the libraries that it needs but the system's C and C++ ones, share/doc/bench, and the
# manual page, which the program writes. The tree runs
# from wherever it is moved to. The C++ library stays the system's, as oneDNN and whatever is opened later use it too: Debian 12's
# needs glibc 2.36, and one of its own in the program would be a second.
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
install(TARGETS bench RUNTIME DESTINATION bin)
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
  file(RPATH_CHANGE FILE "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/bin/bench" OLD_RPATH "@build_run_path@" NEW_RPATH "@run_path@")
]] places @ONLY)
string(REPLACE "$ORIGIN" "\$ORIGIN" places "${places}")
install(CODE "${places}")
install(FILES LICENSE NOTICE README.md DESTINATION share/doc/bench)
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
  foreach(package libdnnl2 libdnnl3 libbenchmark1debian libbenchmark1.8.3 libgomp1 ocl-icd-libopencl1 libfmt-dev
                  nlohmann-json3-dev libcli11-dev libeigen3-dev libarchive-dev zlib1g-dev libjpeg62-turbo-dev libjpeg-turbo8-dev)
    get_filename_component(folder "/usr/share/doc/${package}" REALPATH)
    if(EXISTS "${folder}/copyright")
      file(MAKE_DIRECTORY "${root}/share/doc/bench/licences")
      file(COPY_FILE "${folder}/copyright" "${root}/share/doc/bench/licences/${package}")
    endif()
  endforeach()
]])
