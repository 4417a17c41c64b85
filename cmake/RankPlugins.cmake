# A module for each MPI that is found, next to the program, which opens the one that its launcher belongs to (kernels/ranks/mpi/).
# Both may be installed side by side, so each is looked for where Debian puts it; elsewhere give BENCH_OPENMPI_INCLUDE and
# BENCH_OPENMPI_LIBRARY, or BENCH_MPICH_….
function(bench_rank_plugin name title include_folder library library_folder packages)
  string(TOUPPER ${name} upper)
  find_path(BENCH_${upper}_INCLUDE mpi.h PATHS ${include_folder} NO_DEFAULT_PATH)
  find_library(BENCH_${upper}_LIBRARY ${library} PATHS ${library_folder} NO_DEFAULT_PATH)
  if(BENCH_${upper}_INCLUDE AND BENCH_${upper}_LIBRARY)
    add_library(bench_ranks_${name} MODULE kernels/ranks/mpi/plugin/mpi_ranks.cpp)
    target_compile_definitions(bench_ranks_${name} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)  # C++ bindings, long deprecated
    target_include_directories(bench_ranks_${name} SYSTEM PRIVATE ${BENCH_${upper}_INCLUDE})
    target_link_libraries(bench_ranks_${name} PRIVATE bench_settings ${BENCH_${upper}_LIBRARY})
    set_target_properties(bench_ranks_${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
    find_package_message(bench_${name} "${title}: ${BENCH_${upper}_LIBRARY}" "[${BENCH_${upper}_LIBRARY}]")
    add_dependencies(bench bench_ranks_${name})
  else()
    find_package_message(bench_${name} "${title}: not found; ranks run over it after apt-get install ${packages}" "[]")
  endif()
endfunction()

set(system /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
bench_rank_plugin(openmpi "Open MPI" ${system}/openmpi/include mpi ${system}/openmpi/lib "libopenmpi-dev openmpi-bin")
bench_rank_plugin(mpich "MPICH" /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/mpich mpich ${system} "libmpich-dev mpich")
