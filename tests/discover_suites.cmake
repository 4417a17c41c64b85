# Writes one CTest test for each suite of a GoogleTest program:
#
#   cmake -DPROGRAM=… -DROOM=… -DLABEL=… -DENVIRONMENT=… -DOUTPUT=… -P discover_suites.cmake
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[][;]" "" listed "${listed}")  # in values of parameters; lists would end there
string(REGEX MATCHALL "[^\n]+" lines "${listed}")
list(FILTER lines INCLUDE REGEX "^[A-Za-z0-9_/]+[.]( +#.*)?$")
if(NOT lines)
  message(FATAL_ERROR "${PROGRAM} lists no tests")
endif()
set(text "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "[.].*" "" suite "${line}")
  string(APPEND text "add_test([[${ROOM}.${suite}]] [[${PROGRAM}]] [[--gtest_filter=${suite}.*]])\n"
                     "set_tests_properties([[${ROOM}.${suite}]] PROPERTIES LABELS ${LABEL} ENVIRONMENT [[${ENVIRONMENT}]])\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}")
