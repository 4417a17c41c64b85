# Warnings, sanitizers and the include root, for every target of the project.
add_library(bench_settings INTERFACE)
target_include_directories(bench_settings INTERFACE "${CMAKE_SOURCE_DIR}")
target_compile_options(
  bench_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wno-sign-conversion;-Wnon-virtual-dtor>
                           $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
if(BENCH_WARNINGS_AS_ERRORS)
  target_compile_options(bench_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>
                                                  $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
if(BENCH_SANITIZE)
  target_compile_options(bench_settings INTERFACE -fsanitize=${BENCH_SANITIZE} -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
  target_link_options(bench_settings INTERFACE -fsanitize=${BENCH_SANITIZE})
endif()
