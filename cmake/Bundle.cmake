# What `make gpu-bundle` packs: the same objects, linked with a function that the bundle's C++ library asks for and that glibc has
# from 2.36 on. tools/gpu/bundle.py then has that library ask for the program's. The run path is for who starts a program by hand:
# lib next to its folder. It does not serve the libraries' own libraries, all of which the program names.
function(bench_bundled program)
  add_executable(bundled_${program} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${program}>
                                                     ${CMAKE_SOURCE_DIR}/tools/gpu/bundled/arc4random.cpp)
  target_link_libraries(bundled_${program} PRIVATE $<TARGET_PROPERTY:${program},LINK_LIBRARIES>)
  target_link_options(bundled_${program} PRIVATE $<TARGET_PROPERTY:${program},LINK_OPTIONS>
                                                 LINKER:--export-dynamic-symbol=arc4random)
  set_target_properties(bundled_${program} PROPERTIES OUTPUT_NAME ${program}
                                                      RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bundled"
                                                      BUILD_WITH_INSTALL_RPATH ON
                                                      INSTALL_RPATH "$ORIGIN/../lib;/usr/local/cuda/lib64")
endfunction()
