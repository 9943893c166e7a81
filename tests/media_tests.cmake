# Tests of ...

if(EQUALUX_HAVE_OPENCV)
  equalux_test(camera LABELS core tsan LIBRARIES equalux_opencv)
  equalux_test(still LABELS core LIBRARIES equalux_opencv)
  equalux_test(window LABELS media LIBRARIES equalux_opencv)
  target_sources(test_window PRIVATE support/virtual_display.cpp)
  if(X11_FOUND)
    target_link_libraries(test_window PRIVATE X11::X11)
    target_compile_definitions(test_window PRIVATE EQUALUX_HAVE_X11)
  endif()
endif()
