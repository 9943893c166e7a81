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
# Of its picture's 498,436 pixels, those of the vessels.
add_test(NAME Python.VesselsSample COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/samples/vessels.py
  ${CMAKE_CURRENT_BINARY_DIR}/vessels.png)
set_tests_properties(Python.VesselsSample PROPERTIES LABELS program SKIP_RETURN_CODE 77 TIMEOUT 300
  ENVIRONMENT "PYTHONPATH=${CMAKE_BINARY_DIR}/python" FAIL_REGULAR_EXPRESSION ": 0 pixels|Traceback")
# On a device, by PyTorch and CuPy.
add_test(NAME Python.GpuArrays COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/python/gpu_arrays.py)
set_tests_properties(Python.GpuArrays PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 TIMEOUT 300
  ENVIRONMENT "PYTHONPATH=${CMAKE_BINARY_DIR}/python")
