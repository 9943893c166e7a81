# Tests of ...

if(EQUALUX_HAVE_OPENCV)
  equalux_test(camera LABELS core tsan LIBRARIES equalux_opencv)
  equalux_test(still LABELS core LIBRARIES equalux_opencv)
endif()
