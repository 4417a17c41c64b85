# Warnings, sanitizers and the include root, for every target of the project.
add_library(bench_settings INTERFACE)
target_include_directories(bench_settings INTERFACE "${CMAKE_SOURCE_DIR}")
target_compile_options(bench_settings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                                                -Wnon-virtual-dtor)
if(BENCH_WARNINGS_AS_ERRORS)
  target_compile_options(bench_settings INTERFACE -Werror)
endif()
if(BENCH_SANITIZE)
  target_compile_options(bench_settings INTERFACE -fsanitize=${BENCH_SANITIZE} -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
  target_link_options(bench_settings INTERFACE -fsanitize=${BENCH_SANITIZE})
endif()
