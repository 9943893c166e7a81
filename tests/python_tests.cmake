# Tests of the Python module, with the interpreter that it is built for.
foreach(suite Bytes Arrays State Errors Threads Table Measure DeviceArrays)
  add_test(NAME Python.${suite} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/python/test_equalux.py
    $<TARGET_FILE:equalux_program> ${PROJECT_SOURCE_DIR} ${suite})
  set_tests_properties(Python.${suite} PROPERTIES LABELS program SKIP_RETURN_CODE 77 TIMEOUT 300
    ENVIRONMENT "PYTHONPATH=${CMAKE_BINARY_DIR}/python")
endforeach()
add_test(NAME Python.Wheel COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/python/test_wheel.sh
  ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${Python3_EXECUTABLE})
set_tests_properties(Python.Wheel PROPERTIES LABELS "program;long" SKIP_RETURN_CODE 77 TIMEOUT 1800)
