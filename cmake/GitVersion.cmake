# Run with every build: writes OUTPUT, which defines BENCH_GIT as the commit the sources in SOURCE stand at, or as
# an empty text where there is no git or no repository. Leaves the file alone where nothing changed.
cmake_minimum_required(VERSION 3.22)
set(commit "")
find_program(git_program git)
# Only a repository of our own: an unpacked archive may lie inside someone else's.
if(git_program AND EXISTS "${SOURCE}/.git")
  execute_process(COMMAND ${git_program} -C ${SOURCE} describe --always --dirty --abbrev=12
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "#define BENCH_GIT \"@commit@\"\n" @ONLY)
